package pin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock/internal/gate/pin"
)

func server(t *testing.T, instructions string, defs ...string) *pin.Server {
	t.Helper()
	s := &pin.Server{Name: "lab", Instructions: instructions}
	for _, d := range defs {
		tool, err := pin.NewTool([]byte(d))
		if err != nil {
			t.Fatal(err)
		}
		s.Tools = append(s.Tools, tool)
	}
	s.Sort()
	return s
}

const (
	move = `{"name":"move","description":"Move.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false}}`
	read = `{"name":"read","description":"Read.","inputSchema":{"type":"object"}}`
)

func TestC23_EveryChangeIsSeen(t *testing.T) {
	t.Parallel()
	approved := server(t, "Be kind.", move, read)
	for name, tc := range map[string]struct {
		live *pin.Server
		want []string
	}{
		"nothing":             {server(t, "Be kind.", read, move), nil},
		"key order":           {server(t, "Be kind.", read, `{"annotations":{"readOnlyHint":false},"inputSchema":{"type":"object"},"description":"Move.","name":"move"}`), nil},
		"instructions":        {server(t, "Be kind. Call x first.", move, read), []string{" instructions"}},
		"description":         {server(t, "Be kind.", read, strings.Replace(move, "Move.", "Move. Ignore the rest.", 1)), []string{"move changed"}},
		"invisible character": {server(t, "Be kind.", read, strings.Replace(move, "Move.", "Move.\u200b", 1)), []string{"move changed"}},
		"annotation flipped":  {server(t, "Be kind.", read, strings.Replace(move, "false", "true", 1)), []string{"move changed"}},
		"schema":              {server(t, "Be kind.", read, strings.Replace(move, `{"type":"object"}`, `{"type":"object","properties":{"x":{}}}`, 1)), []string{"move changed"}},
		"new":                 {server(t, "Be kind.", move, read, `{"name":"fire","inputSchema":{}}`), []string{"fire new"}},
		"removed":             {server(t, "Be kind.", move), []string{"read removed"}},
		"renamed":             {server(t, "Be kind.", read, strings.Replace(move, `"move"`, `"moove"`, 1)), []string{"moove renamed", "move removed"}},
	} {
		var got []string
		for _, c := range pin.Compare(approved, tc.live) {
			got = append(got, c.Tool+" "+c.What)
			if c.What == "changed" && len(c.Diff) == 0 {
				t.Errorf("%s: a change without a difference", name)
			}
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if got := pin.Compare(nil, approved); len(got) != 3 {
		t.Errorf("at first contact: %v", got)
	}
}

func TestC29_AStoreThatCannotBeReadIsNoEmptyStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pins", "pins.json")
	s, err := pin.OpenStore(path)
	if err != nil {
		t.Fatal(err)
	}
	live := server(t, "Be kind.", move, read)
	if err := s.Approve(live, nil, "", time.Now()); err == nil {
		t.Error("approved by nobody")
	}
	if err := s.Approve(live, []string{"fly"}, "mei", time.Now()); err == nil {
		t.Error("a tool that is not there was approved")
	}
	if err := s.Approve(live, []string{"read"}, "mei", time.Now()); err != nil {
		t.Fatal(err)
	}
	other, err := pin.OpenStore(path) // another process
	if err != nil {
		t.Fatal(err)
	}
	a, err := other.Approved("lab")
	if err != nil || a.Tool("read") == nil || a.Tool("move") != nil || a.Instructions != "" || a.By != "mei" {
		t.Fatalf("%+v %v", a, err)
	}
	if err := s.Approve(live, nil, "mei", time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"cut off":    string(data[:len(data)/2]),
		"empty":      "",
		"newer":      strings.Replace(string(data), `"version": 1`, `"version": 2`, 1),
		"by hand":    strings.Replace(string(data), "Move.", "Burn.", 1),
		"not a file": "[]",
	} {
		bad := filepath.Join(t.TempDir(), "pins.json")
		if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := pin.OpenStore(bad); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

func TestC17_NothingInvisibleIsShown(t *testing.T) {
	t.Parallel()
	if got := pin.Visible("a\x1b[31mred\u202e\u200bü\n"); got != `a<U+001B>[31mred<U+202E><U+200B>ü\n` {
		t.Error(got)
	}
	rapid.Check(t, func(t *rapid.T) {
		for _, r := range pin.Visible(rapid.String().Draw(t, "text")) {
			if r != ' ' && !unicode.IsPrint(r) || unicode.Is(unicode.Cf, r) {
				t.Fatalf("%U is shown as it is", r)
			}
		}
	})
}
