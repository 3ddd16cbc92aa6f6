package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// manifestHead is the first line of what is signed: the key signs other things
// too, and none of them may pass for a manifest.
const manifestHead = "interlock documents manifest v1\n"

const maxManifest = 8 << 20 // bytes

// A Person is who decides, as the credential says.
type Person struct {
	Name       string
	Credential string // id of the credential
}

// An Approval says that a person has let a document count.
type Approval struct {
	Name       string    `json:"name"`
	Kind       Kind      `json:"kind"`
	SHA256     string    `json:"sha256"`
	By         string    `json:"by"`
	Credential string    `json:"credential"`
	At         time.Time `json:"at"`
	Reason     string    `json:"reason,omitempty"`
	Findings   []string  `json:"findings,omitempty"` // that the person accepted
}

// An Override lifts one hazard for one substance or thing.
type Override struct {
	ID         string    `json:"id"`
	Subject    string    `json:"subject"` // node, as "cas:64-17-5" or "site:hp1"
	Hazard     string    `json:"hazard"`  // node, as "h:H225"
	Reason     string    `json:"reason"`
	By         string    `json:"by"`
	Credential string    `json:"credential"`
	At         time.Time `json:"at"`
	Expires    time.Time `json:"expires,omitzero"` // zero: until it is ended
}

func (w *Override) inForce(now time.Time) bool {
	return !now.Before(w.At) && (w.Expires.IsZero() || now.Before(w.Expires))
}

// A Removal says that a person has taken something out.
type Removal struct {
	What       string    `json:"what"`
	By         string    `json:"by"`
	Credential string    `json:"credential"`
	At         time.Time `json:"at"`
	Reason     string    `json:"reason"`
}

// manifest is what counts, and by whose word.
type manifest struct {
	Serial    int        `json:"serial"` // of this version
	Documents []Approval `json:"documents"`
	Overrides []Override `json:"overrides,omitempty"`
	Removed   []Removal  `json:"removed,omitempty"`
}

func (m *manifest) approval(name string) *Approval {
	for i := range m.Documents {
		if m.Documents[i].Name == name {
			return &m.Documents[i]
		}
	}
	return nil
}

func (m *manifest) clone() *manifest {
	return &manifest{m.Serial, slices.Clone(m.Documents), slices.Clone(m.Overrides), slices.Clone(m.Removed)}
}

func (m *manifest) put(a Approval) {
	m.remove(a.Name)
	m.Documents = append(m.Documents, a)
	slices.SortFunc(m.Documents, func(a, b Approval) int { return strings.Compare(a.Name, b.Name) })
}

func (m *manifest) remove(name string) {
	m.Documents = slices.DeleteFunc(m.Documents, func(a Approval) bool { return a.Name == name })
}

// seal writes and signs a manifest.
func (m *manifest) seal(sign note.Signer) ([]byte, error) {
	body, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the manifest of documents: %w", err)
	}
	out, err := note.Sign(&note.Note{Text: manifestHead + string(body) + "\n"}, sign)
	if err != nil {
		return nil, fmt.Errorf("signing the manifest of documents: %w", err)
	}
	return out, nil
}

// openManifest checks signature and shape.
func openManifest(data []byte, by note.Verifier) (*manifest, error) {
	n, err := note.Open(data, note.VerifierList(by))
	if err != nil {
		return nil, fmt.Errorf("%w: its manifest: %w", ErrDamaged, err)
	}
	body, ok := strings.CutPrefix(n.Text, manifestHead)
	if !ok {
		return nil, fmt.Errorf("%w: what is signed is no manifest of documents", ErrDamaged)
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(body)))
	dec.DisallowUnknownFields()
	var m manifest
	if err := dec.Decode(&m); err != nil {
		return nil, fmt.Errorf("manifest of documents: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("manifest of documents: more than one value")
	}
	return &m, nil
}
