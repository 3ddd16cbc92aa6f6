package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestC14_OneGateToAStore(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "lab.db")
	release, err := lockGate(store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockGate(store); err == nil || !strings.Contains(err.Error(), "another gate") {
		t.Fatalf("a second gate got the store: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	release, err = lockGate(store)
	if err != nil {
		t.Fatalf("the store is not free after the first gate ended: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
}
