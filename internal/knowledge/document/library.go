package document

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"interlock/internal/verdict"
)

// A library is a folder:
//
//	files/NAME        what people put there: new or changed, in quarantine
//	approved/SHA256   the bytes that were approved
//	manifest          who approved what: JSON, signed by the installation
//
// A file changed in files/ waits again; the version approved before goes on
// counting until a person decides. Bytes or manifest that do not fit their
// digests are an error: what was known must not vanish silently.
const (
	filesDir     = "files"
	approvedDir  = "approved"
	manifestFile = "manifest"
)

// ErrDamaged is a library whose approved bytes or manifest were changed.
var ErrDamaged = errors.New("the library of documents was changed by someone else")

// A State is where a document is between arriving and counting.
type State string

// The states.
const (
	New      State = "new"      // waits for a first approval
	Changed  State = "changed"  // waits; the approved version counts
	Approved State = "approved" // counts
	Gone     State = "gone"     // the file is gone; the approved version counts
)

// An Entry is one document of a library.
type Entry struct {
	Name     string
	State    State
	SHA256   string    // of the file, "" if it is gone
	Approval *Approval // of the version that counts, nil if none does
}

// A Library keeps the documents of one site.
type Library struct {
	dir string
	by  note.Verifier
	m   *manifest
}

// OpenLibrary opens the library in a folder, which need not exist yet, and
// checks its manifest against the key.
func OpenLibrary(dir string, by note.Verifier) (*Library, error) {
	l := &Library{dir: dir, by: by, m: &manifest{}}
	data, err := l.readFile(manifestFile, maxManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if names, err := l.list(approvedDir); err != nil || len(names) > 0 {
			return nil, errors.Join(err, fmt.Errorf("%w: %s has approved documents and no manifest", ErrDamaged, dir))
		}
		return l, nil
	case err != nil:
		return nil, fmt.Errorf("reading the manifest of documents: %w", err)
	}
	l.m, err = openManifest(data, by)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return l, nil
}

// Entries lists the documents by name.
func (l *Library) Entries() ([]Entry, error) {
	names, err := l.list(filesDir)
	if err != nil {
		return nil, err
	}
	var out []Entry
	folded := map[string]string{}
	for _, name := range names {
		if err := checkName(name); err != nil {
			return nil, fmt.Errorf("%s: %w", filesDir, err)
		}
		if have := folded[strings.ToLower(name)]; have != "" {
			return nil, fmt.Errorf("documents %s and %s differ in case only", have, name)
		}
		folded[strings.ToLower(name)] = name
		data, err := l.Read(name)
		if err != nil {
			return nil, err
		}
		e := Entry{Name: name, State: New, SHA256: digest(data), Approval: l.m.approval(name)}
		if e.Approval != nil {
			e.State = Changed
			if e.Approval.SHA256 == e.SHA256 {
				e.State = Approved
			}
		}
		out = append(out, e)
	}
	for i := range l.m.Documents {
		if a := &l.m.Documents[i]; !slices.Contains(names, a.Name) {
			out = append(out, Entry{Name: a.Name, State: Gone, Approval: a})
		}
	}
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Overrides returns what named persons have lifted.
func (l *Library) Overrides() []Override { return slices.Clone(l.m.Overrides) }

// Serial is the number of the manifest in force: each decision makes the next.
func (l *Library) Serial() int { return l.m.Serial }

// History returns what was taken out, the oldest first.
func (l *Library) History() []Removal { return slices.Clone(l.m.Removed) }

// Add puts a file into quarantine. What is approved under its name stays.
func (l *Library) Add(name string, data []byte) error {
	if err := checkName(name); err != nil {
		return err
	}
	return l.writeFile(filesDir+"/"+name, data)
}

// Read returns a file as it lies there.
func (l *Library) Read(name string) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	return l.readFile(filesDir+"/"+name, Limits{}.withDefaults().Bytes)
}

// ReadApproved returns the bytes that an approval is of.
func (l *Library) ReadApproved(a *Approval) ([]byte, error) {
	data, err := l.readFile(approvedDir+"/"+a.SHA256, Limits{}.withDefaults().Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: the approved %s cannot be read: %w", ErrDamaged, a.Name, err)
	}
	if digest(data) != a.SHA256 {
		return nil, fmt.Errorf("%w: the approved %s is not what %s approved", ErrDamaged, a.Name, a.By)
	}
	return data, nil
}

// Approved returns the approved version of a document, nil if there is none.
func (l *Library) Approved(ctx context.Context, name string, o Options) (*Document, error) {
	a := l.m.approval(name)
	if a == nil {
		return nil, nil
	}
	data, err := l.ReadApproved(a)
	if err != nil {
		return nil, err
	}
	return Parse(ctx, a.Name, data, o)
}

// Documents reads all that counts. If one cannot be read, or would not be
// approved today, none is returned: the caller keeps the graph it has.
func (l *Library) Documents(ctx context.Context, o Options) ([]*Document, error) {
	out := make([]*Document, 0, len(l.m.Documents))
	for i := range l.m.Documents {
		d, err := l.Approved(ctx, l.m.Documents[i].Name, o)
		if err != nil {
			return nil, err
		}
		if f := blocking(d.Findings); f != nil {
			return nil, fmt.Errorf("%s (approved by %s): %s: %s: remove it or approve a clean version", d.Name, l.m.Documents[i].By, f.Rule, f.Message)
		}
		out = append(out, d)
	}
	return out, nil
}

// Approvable says why a document cannot be approved, nil if it can.
func Approvable(doc *Document, findings []Finding, reason string) error {
	if f := blocking(findings); f != nil {
		return fmt.Errorf("%s cannot be approved: %s: %s", doc.Name, f.Rule, f.Message)
	}
	n := 0
	for _, f := range findings {
		if f.Level.Norm() == verdict.Flag {
			n++
		}
	}
	if n > 0 && !wordy(reason) {
		return fmt.Errorf("%s: %d finding(s) need a reason", doc.Name, n)
	}
	return nil
}

// Approve makes a document count, as a named person has read it. It fails if
// the bytes are no longer those that were read, or if something in them needs
// a reason and none is given.
func (l *Library) Approve(doc *Document, findings []Finding, who Person, reason string, at time.Time, sign note.Signer) error {
	if err := Approvable(doc, findings, reason); err != nil {
		return err
	}
	data, err := l.Read(doc.Name)
	if err != nil {
		return err
	}
	if digest(data) != doc.SHA256 {
		return fmt.Errorf("%s was changed since it was read: look at it again", doc.Name)
	}
	if err := l.writeFile(approvedDir+"/"+doc.SHA256, data); err != nil {
		return err
	}
	a := Approval{Name: doc.Name, Kind: doc.Kind, SHA256: doc.SHA256, By: who.Name, Credential: who.Credential, At: at.UTC(), Reason: reason}
	for _, f := range findings {
		a.Findings = append(a.Findings, strings.TrimSpace(f.Rule+" "+f.At.String())+": "+f.Message)
	}
	next := l.m.clone()
	if old := next.approval(a.Name); old != nil {
		next.Removed = append(next.Removed, Removal{What: old.Name + " " + old.SHA256 + ", approved by " + old.By, By: who.Name, Credential: who.Credential, At: at.UTC(), Reason: "replaced"})
	}
	next.put(a)
	return l.commit(next, sign)
}

// Remove takes a document out. What it said no longer counts, which weakens:
// an approved one is taken out by a named person with a reason only.
func (l *Library) Remove(name string, who Person, reason string, at time.Time, sign note.Signer) error {
	a := l.m.approval(name)
	if a == nil {
		return l.discard(name)
	}
	if !wordy(reason) {
		return fmt.Errorf("%s is approved: taking it out needs a reason", name)
	}
	next := l.m.clone()
	next.remove(name)
	next.Removed = append(next.Removed, Removal{What: name + " " + a.SHA256, By: who.Name, Credential: who.Credential, At: at.UTC(), Reason: reason})
	if err := l.commit(next, sign); err != nil {
		return err
	}
	return l.discard(name)
}

// discard takes a file out of quarantine; an approved version stays.
func (l *Library) discard(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return fmt.Errorf("taking out %s: %w", name, err)
	}
	defer func() { _ = root.Close() }()
	if err := root.Remove(filesDir + "/" + name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("taking out %s: %w", name, err)
	}
	return nil
}

// PutOverride stores what a named person lifts.
func (l *Library) PutOverride(w Override, sign note.Signer) (Override, error) {
	if w.By == "" || !wordy(w.Reason) || w.Subject == "" || w.Hazard == "" || w.At.IsZero() {
		return w, errors.New("an override names what it lifts, who lifts it and why")
	}
	sum := sha256.Sum256([]byte(w.Subject + "\x00" + w.Hazard + "\x00" + w.By + "\x00" + w.At.UTC().Format(time.RFC3339Nano)))
	w.ID = hex.EncodeToString(sum[:6])
	w.At = w.At.UTC()
	next := l.m.clone()
	next.Overrides = append(next.Overrides, w)
	return w, l.commit(next, sign)
}

// EndOverride lets a hazard count again.
func (l *Library) EndOverride(id string, who Person, reason string, at time.Time, sign note.Signer) error {
	next := l.m.clone()
	i := slices.IndexFunc(next.Overrides, func(w Override) bool { return w.ID == id })
	if i < 0 {
		return fmt.Errorf("no override %q", id)
	}
	next.Overrides = slices.Delete(next.Overrides, i, i+1)
	next.Removed = append(next.Removed, Removal{What: "override " + id, By: who.Name, Credential: who.Credential, At: at.UTC(), Reason: reason})
	return l.commit(next, sign)
}

// commit signs and writes a manifest, then makes it the library's.
func (l *Library) commit(next *manifest, sign note.Signer) error {
	next.Serial++
	data, err := next.seal(sign)
	if err != nil {
		return err
	}
	if _, err := openManifest(data, l.by); err != nil {
		return fmt.Errorf("signing the manifest: %w", err)
	}
	if err := l.writeFile(manifestFile, data); err != nil {
		return err
	}
	l.m = next
	return nil
}

func blocking(findings []Finding) *Finding {
	for i := range findings {
		if findings[i].Level.Norm() == verdict.Block {
			return &findings[i]
		}
	}
	return nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// list names the files of a folder of the library, none if it does not exist.
func (l *Library) list(sub string) ([]string, error) {
	root, err := os.OpenRoot(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the library of documents: %w", err)
	}
	defer func() { _ = root.Close() }()
	entries, err := fs.ReadDir(root.FS(), sub)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing documents: %w", err)
	}
	var out []string
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.HasSuffix(e.Name(), temporary) {
			out = append(out, e.Name())
		} else if !e.Type().IsRegular() {
			return nil, fmt.Errorf("%s/%s is not a plain file", sub, e.Name())
		}
	}
	return out, nil
}

// readFile reads a file inside the library, never through a link out of it.
func (l *Library) readFile(name string, limit int) ([]byte, error) {
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a plain file", name)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = fmt.Errorf("%s: more than the %d bytes that are read", name, limit)
	}
	return data, err
}

const temporary = ".tmp"

// writeFile replaces a file as a whole or not at all.
func (l *Library) writeFile(name string, data []byte) error {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return fmt.Errorf("making the library of documents: %w", err)
	}
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return fmt.Errorf("opening the library of documents: %w", err)
	}
	defer func() { _ = root.Close() }()
	for _, sub := range []string{filesDir, approvedDir} {
		if err := root.Mkdir(sub, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("making the library of documents: %w", err)
		}
	}
	f, err := root.OpenFile(name+temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err := root.Rename(name+temporary, name); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
