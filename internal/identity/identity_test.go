package identity_test

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interlock/internal/identity"
	"interlock/internal/record"
)

func store(t *testing.T) (*record.Log, *record.Key, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.db")
	key, err := record.LoadOrCreateKey(rand.Reader, path+".key")
	if err != nil {
		t.Fatal(err)
	}
	return open(t, path, key), key, path
}

func open(t *testing.T, path string, key *record.Key) *record.Log {
	t.Helper()
	l, err := record.Open(t.Context(), path, key, record.Options{Create: true, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestC33_TokensAcrossProcesses(t *testing.T) {
	t.Parallel()
	log, key, path := store(t)
	other := open(t, path, key) // the command line beside a running server
	server := identity.New(log.Reader)
	secret, p, err := identity.Issue(t.Context(), other, rand.Reader, identity.Reviewer, "Ana Silva")
	if err != nil {
		t.Fatal(err)
	}
	got, err := server.Authenticate(t.Context(), secret)
	if err != nil || got != p || got.String() != "reviewer:Ana Silva" {
		t.Fatalf("%+v, %v, want %+v", got, err, p)
	}
	for _, wrong := range []string{"", secret + "x", secret[:len(secret)-1], strings.Replace(secret, "reviewer", "agent", 1), p.Token} {
		if _, err := server.Authenticate(t.Context(), wrong); !errors.Is(err, identity.ErrUnknown) {
			t.Errorf("%q: %v, want ErrUnknown", wrong, err)
		}
	}
	for range 2 { // again changes nothing
		if err := identity.New(other.Reader).Revoke(t.Context(), other, p.Token); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := server.Authenticate(t.Context(), secret); !errors.Is(err, identity.ErrUnknown) {
		t.Errorf("a revoked token is accepted: %v", err)
	}
	if err := server.InForce(t.Context(), p.Token); !errors.Is(err, identity.ErrUnknown) {
		t.Errorf("a revoked token is in force: %v", err)
	}
	if err := server.Revoke(t.Context(), log, "t-0"); !errors.Is(err, identity.ErrNoToken) {
		t.Errorf("%v, want ErrNoToken", err)
	}
	list, err := server.List(t.Context())
	if err != nil || len(list) != 1 || list[0].Revoked.IsZero() {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestC28_TheSecretIsNowhereInTheStore(t *testing.T) {
	t.Parallel()
	log, _, path := store(t)
	secret, _, err := identity.Issue(t.Context(), log, rand.Reader, identity.Agent, "a1")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, path + "-wal"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		random := strings.TrimPrefix(secret, "ilk_agent_")
		if strings.Contains(string(data), random) {
			t.Errorf("%s holds the secret", filepath.Base(file))
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	log, _, _ := store(t)
	for _, name := range []string{"", " ", " a", "a\n", "a\u202eb", "a\u200bb", "a\x00", strings.Repeat("x", 101), "\xff"} {
		if _, _, err := identity.Issue(t.Context(), log, rand.Reader, identity.Agent, name); err == nil {
			t.Errorf("%q was taken as a name", name)
		}
	}
	if _, _, err := identity.Issue(t.Context(), log, rand.Reader, "", "a"); err == nil {
		t.Error("a token without a role was issued")
	}
	if _, _, err := identity.Issue(t.Context(), log, rand.Reader, identity.Device, "Zoë (PLC 3)"); err != nil {
		t.Error(err)
	}
}

func TestC26_ARowPutInByHandIsNoCredential(t *testing.T) {
	t.Parallel()
	log, key, path := store(t)
	if _, _, err := identity.Issue(t.Context(), log, rand.Reader, identity.Agent, "a1"); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// The SHA-256 of the text "x".
	_, err = db.ExecContext(t.Context(), `INSERT INTO events SELECT 1, at, kind, decision, 't-forged', CAST(
		'{"v":1,"seq":1,"at":"' || at || '","kind":"token_issued","tag":"t-forged","body":{"token":"t-forged","role":"reviewer","name":"Eve","sha256":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}}'
		AS BLOB) FROM events WHERE seq = 0`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.OpenReader(t.Context(), path, key.Verifier())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if p, err := identity.New(r).Authenticate(t.Context(), "x"); !errors.Is(err, record.ErrTampered) {
		t.Errorf("%+v, %v, want ErrTampered", p, err)
	}
}
