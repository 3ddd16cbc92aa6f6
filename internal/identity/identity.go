// Package identity says who is behind a credential. It exists so that agent,
// reviewer and device are told apart by what they present and never by what a
// body claims (C33, C16).
//
// A token is 256 random bits, shown once when it is made. The record keeps its
// SHA-256 only, which for a random value of that length is as good as a slow
// hash; issuing and revoking are events of the log, so that nobody can add a
// credential unseen.
package identity

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"interlock/internal/record"
)

// A Role is what a credential may do. The zero value may do nothing.
type Role string

// The roles.
const (
	Agent    Role = "agent"    // submits plans
	Reviewer Role = "reviewer" // a person: decides escalated plans, sees everything
	Device   Role = "device"   // reports live state (C38)
)

// Errors that callers tell apart.
var (
	ErrUnknown = errors.New("the token is unknown or revoked")
	ErrNoToken = errors.New("no token with this id")
)

// A Principal is who presents a credential.
type Principal struct {
	Role  Role
	Name  string
	Token string // public id of the credential
}

// String gives the identity as the record keeps it, e.g. "agent:planner-1".
func (p Principal) String() string { return string(p.Role) + ":" + p.Name }

// A Token is one credential as it is listed; never the credential itself.
type Token struct {
	Principal
	Issued  time.Time
	Revoked time.Time // zero: in force
}

// Tokens knows the credentials of a store, those included that another process
// issues or revokes meanwhile.
type Tokens struct {
	reader *record.Reader

	mu     sync.Mutex // guards the rest
	next   int64      // first event that was not read yet
	byHash map[string]string
	byID   map[string]*Token
	order  []string // ids as issued
}

// New returns the credentials of the store behind r.
func New(r *record.Reader) *Tokens {
	return &Tokens{reader: r, byHash: map[string]string{}, byID: map[string]*Token{}}
}

// maxName bounds names, in bytes.
const maxName = 100

// Issue makes a credential and returns it; it can never be shown again. rand
// gives the randomness.
func Issue(ctx context.Context, log *record.Log, rand io.Reader, role Role, name string) (secret string, p Principal, err error) {
	if role != Agent && role != Reviewer && role != Device {
		return "", Principal{}, fmt.Errorf("issuing a token: unknown role %q", role)
	}
	if err := checkName(name); err != nil {
		return "", Principal{}, fmt.Errorf("issuing a token: %w", err)
	}
	var b [32 + 6]byte
	if _, err := io.ReadFull(rand, b[:]); err != nil {
		return "", Principal{}, fmt.Errorf("issuing a token: %w", err)
	}
	secret = "ilk_" + string(role) + "_" + base64.RawURLEncoding.EncodeToString(b[:32])
	p = Principal{Role: role, Name: name, Token: "t-" + hex.EncodeToString(b[32:])}
	if _, err := log.Append(ctx, record.TokenIssued{Token: p.Token, Role: string(role), Name: name, Hash: hash(secret)}); err != nil {
		return "", Principal{}, fmt.Errorf("issuing a token: %w", err)
	}
	return secret, p, nil
}

// checkName refuses names that a reader could take for another one.
func checkName(name string) error {
	bad := func(r rune) bool { return !unicode.IsPrint(r) }
	switch {
	case strings.TrimSpace(name) == "" || name != strings.TrimSpace(name):
		return errors.New("the name is empty or begins or ends with a space")
	case len(name) > maxName:
		return fmt.Errorf("the name is longer than %d bytes", maxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, bad):
		return errors.New("the name holds control or invisible characters")
	}
	return nil
}

// Revoke ends a credential. Revoking it again changes nothing.
func (t *Tokens) Revoke(ctx context.Context, log *record.Log, id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(ctx); err != nil {
		return err
	}
	if t.byID[id] == nil {
		return fmt.Errorf("revoking %q: %w", id, ErrNoToken)
	}
	_, err := log.Append(ctx, record.TokenRevoked{Token: id})
	if errors.Is(err, record.ErrDuplicate) {
		return nil
	}
	return err
}

// Authenticate returns who presents the secret. The secret is looked up by its
// hash, so that the time taken says nothing about other secrets.
func (t *Tokens) Authenticate(ctx context.Context, secret string) (Principal, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(ctx); err != nil {
		return Principal{}, err
	}
	tok := t.byID[t.byHash[hash(secret)]]
	if tok == nil || !tok.Revoked.IsZero() {
		return Principal{}, ErrUnknown
	}
	return tok.Principal, nil
}

// InForce returns ErrUnknown if the credential with this id was revoked since
// it was presented.
func (t *Tokens) InForce(ctx context.Context, id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(ctx); err != nil {
		return err
	}
	if tok := t.byID[id]; tok == nil || !tok.Revoked.IsZero() {
		return ErrUnknown
	}
	return nil
}

// List returns all credentials in the order they were issued.
func (t *Tokens) List(ctx context.Context) ([]Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(ctx); err != nil {
		return nil, err
	}
	list := make([]Token, len(t.order))
	for i, id := range t.order {
		list[i] = *t.byID[id]
	}
	return list, nil
}

// refresh reads what was issued and revoked since the last time. The events
// are proven against the signed checkpoint: a row put into the file by hand is
// no credential.
func (t *Tokens) refresh(ctx context.Context) error {
	entries, err := t.reader.Proven(ctx, record.Query{Kinds: []record.Kind{record.KindTokenIssued, record.KindTokenRevoked}, From: t.next})
	if err != nil {
		return fmt.Errorf("reading the tokens: %w", err)
	}
	for _, e := range entries {
		event, err := e.Event()
		if err != nil {
			return fmt.Errorf("reading the tokens: %w", err)
		}
		switch event := event.(type) {
		case record.TokenIssued:
			t.byHash[event.Hash] = event.Token
			t.byID[event.Token] = &Token{Principal: Principal{Role(event.Role), event.Name, event.Token}, Issued: e.At}
			t.order = append(t.order, event.Token)
		case record.TokenRevoked:
			if tok := t.byID[event.Token]; tok != nil {
				tok.Revoked = e.At
			}
		default:
			return fmt.Errorf("reading the tokens: event %d is a %s", e.Seq, event.Kind())
		}
		t.next = e.Seq + 1
	}
	return nil
}

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
