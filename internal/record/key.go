package record

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// A Key signs checkpoints (ed25519, in the form of signed notes).
type Key struct {
	signer   note.Signer
	verifier note.Verifier
	public   string
}

// Public returns the verifier key, to be kept where the store's owner cannot
// reach: with it and a checkpoint anyone can verify the log.
func (k *Key) Public() string { return k.public }

// Name returns the name in the signatures, which is also the log's origin.
func (k *Key) Name() string { return k.signer.Name() }

// CreateKey makes a key and writes it to path, which must not exist, readable
// by its owner only. rand gives the randomness; name must hold no space or +.
func CreateKey(rand io.Reader, path, name string) (*Key, error) {
	secret, _, err := note.GenerateKey(rand, name)
	if err != nil {
		return nil, fmt.Errorf("making a signing key: %w", err)
	}
	k, err := parseKey(secret)
	if err != nil {
		return nil, fmt.Errorf("making a signing key: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("making a signing key: %w", err)
	}
	_, err = f.WriteString(secret + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, fmt.Errorf("writing the signing key %s: %w", path, err)
	}
	return k, nil
}

// LoadKey reads a key that CreateKey wrote. A key that others can read is
// refused: whoever holds it can rewrite the log unseen.
func LoadKey(path string) (*Key, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading the signing key: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading the signing key %s: not a file", path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("reading the signing key %s: its mode is %04o, others can read it: expected 0600", path, info.Mode().Perm())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the signing key: %w", err)
	}
	k, err := parseKey(strings.TrimSpace(string(data)))
	if err != nil {
		return nil, fmt.Errorf("reading the signing key %s: %w", path, err)
	}
	return k, nil
}

// LoadOrCreateKey reads the key at path or makes one with a random name: for
// stores that are used without an installation.
func LoadOrCreateKey(rand io.Reader, path string) (*Key, error) {
	k, err := LoadKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	name, err := RandomName(rand)
	if err != nil {
		return nil, err
	}
	return CreateKey(rand, path, name)
}

// RandomName gives a name for a log that no other log has.
func RandomName(rand io.Reader) (string, error) {
	var b [6]byte
	if _, err := io.ReadFull(rand, b[:]); err != nil {
		return "", fmt.Errorf("naming the log: %w", err)
	}
	return fmt.Sprintf("interlock-%x", b), nil
}

// ParsePublicKey reads what Public gave.
func ParsePublicKey(public string) (note.Verifier, error) {
	v, err := note.NewVerifier(strings.TrimSpace(public))
	if err != nil {
		return nil, fmt.Errorf("reading the public key: %w (expected name+hash+key, as interlock init prints it)", err)
	}
	return v, nil
}

// seedBytes is the length of the secret inside a note key: the algorithm byte
// and the ed25519 seed.
const seedBytes = 1 + ed25519.SeedSize

// parseKey reads the private form PRIVATE+KEY+name+hash+base64(1, seed) and
// derives the public one.
func parseKey(secret string) (*Key, error) {
	signer, err := note.NewSigner(secret)
	if err != nil {
		return nil, errors.New("not a signing key: expected PRIVATE+KEY+… as interlock init writes it")
	}
	// NewSigner has seen five fields; base64 may itself hold a '+', so the last
	// one takes the rest.
	parts := strings.SplitN(secret, "+", 5)
	raw, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(raw) != seedBytes {
		return nil, errors.New("not a signing key: its secret has the wrong length")
	}
	pub, ok := ed25519.NewKeyFromSeed(raw[1:]).Public().(ed25519.PublicKey)
	if !ok {
		return nil, errors.New("not an ed25519 signing key")
	}
	public, err := note.NewEd25519VerifierKey(signer.Name(), pub)
	if err != nil {
		return nil, fmt.Errorf("deriving the public key: %w", err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		return nil, fmt.Errorf("deriving the public key: %w", err)
	}
	return &Key{signer: signer, verifier: verifier, public: public}, nil
}

// Signer signs other notes of the installation. Their first line must be one
// that no checkpoint has.
func (k *Key) Signer() note.Signer { return k.signer }

// Verifier returns the public half, for OpenReader and VerifyCopy.
func (k *Key) Verifier() note.Verifier { return k.verifier }
