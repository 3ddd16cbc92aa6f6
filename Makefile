GOLANGCI = go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUZZTIME ?= 10s

.PHONY: build test race lint fmt fuzz bench golden demo ci

build:
	go build -o bin/interlock ./cmd/interlock

test:
	go test ./...

race:
	go test -race ./...

lint:
	go vet ./...
	$(GOLANGCI) run

fmt:
	$(GOLANGCI) fmt

# Every fuzz target of the module, one after the other; a package without its target fails.
fuzz:
	.ci/fuzz $(FUZZTIME)

bench:
	go test -run '^$$' -bench . -benchmem ./internal/...

# Rewrites the golden transcripts and generated documents after a deliberate change.
golden:
	go test ./cmd/interlock -update

demo:
	go run ./cmd/interlock demo

ci:
	bash .ci/run
