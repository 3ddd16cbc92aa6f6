package pin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Store keeps the approved servers in one JSON file. It is safe for
// concurrent use within a process and reads the file again when another
// process has written it.
type Store struct {
	path string // "": in memory only

	mu       sync.Mutex // owns what follows
	approved map[string]*Server
	modified time.Time
	changes  int
}

type file struct {
	Version int       `json:"version"`
	Servers []*Server `json:"servers"`
}

// OpenStore reads the store at path. A file that does not exist yet approves
// nothing; one that cannot be read is an error, never an empty store.
func OpenStore(path string) (*Store, error) {
	s := &Store{path: path, approved: map[string]*Server{}}
	if err := s.load(); err != nil {
		return nil, err
	}
	return s, nil
}

// load reads the file if it has changed. mu is held or not yet shared.
func (s *Store) load() error {
	if s.path == "" {
		return nil
	}
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the approved tools: %w", err)
	}
	if info.ModTime().Equal(s.modified) {
		return nil
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		return fmt.Errorf("reading the approved tools: %w", err)
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("reading the approved tools: %s: %w", s.path, err)
	}
	if f.Version != 1 {
		return fmt.Errorf("reading the approved tools: %s: version %d is not known, expected 1", s.path, f.Version)
	}
	approved := map[string]*Server{}
	for _, srv := range f.Servers {
		for _, t := range srv.Tools {
			if t.Digest != sum([]byte(t.Definition)) {
				return fmt.Errorf("reading the approved tools: %s: the digest of %s on %s does not fit its definition", s.path, t.Name, srv.Name)
			}
		}
		approved[srv.Name] = srv
	}
	s.approved, s.modified = approved, info.ModTime()
	s.changes++
	return nil
}

// Changes counts how often what is approved has changed since the store was
// opened, by this process or another.
func (s *Store) Changes() (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.load()
	return s.changes, err
}

// Approved returns what is approved of a server, nil if nothing is.
func (s *Store) Approved(server string) (*Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return nil, err
	}
	return s.approved[server], nil
}

// Approve makes live tools the approved ones: those named, or everything,
// instructions included, if none is. By is the person.
func (s *Store) Approve(live *Server, names []string, by string, at time.Time) error {
	if strings.TrimSpace(by) == "" {
		return errors.New("approving tools: no person is named")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return err
	}
	next := &Server{Name: live.Name, By: by, At: at.UTC().Format(time.RFC3339)}
	if len(names) == 0 {
		next.Instructions, next.Tools = live.Instructions, slices.Clone(live.Tools)
	} else {
		if old := s.approved[live.Name]; old != nil {
			next.Instructions, next.Tools = old.Instructions, slices.Clone(old.Tools)
		}
		for _, name := range names {
			t := live.Tool(name)
			if t == nil {
				return fmt.Errorf("approving tools: %s has no tool %q now", live.Name, name)
			}
			next.Tools = slices.DeleteFunc(next.Tools, func(o Tool) bool { return o.Name == name })
			next.Tools = append(next.Tools, *t)
		}
	}
	next.Sort()
	approved := make(map[string]*Server, len(s.approved)+1)
	for k, v := range s.approved {
		approved[k] = v
	}
	approved[live.Name] = next
	return s.save(approved)
}

// save writes the file beside the old one and puts it in its place.
func (s *Store) save(approved map[string]*Server) error {
	if s.path == "" {
		s.approved = approved
		s.changes++
		return nil
	}
	f := file{Version: 1}
	for _, srv := range approved {
		f.Servers = append(f.Servers, srv)
	}
	slices.SortFunc(f.Servers, func(a, b *Server) int { return strings.Compare(a.Name, b.Name) })
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the approved tools: %w", err)
	}
	if err := replace(s.path, append(data, '\n')); err != nil {
		return fmt.Errorf("writing the approved tools: %w", err)
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return fmt.Errorf("writing the approved tools: %w", err)
	}
	s.approved, s.modified = approved, info.ModTime()
	s.changes++
	return nil
}

func replace(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".pins-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already if all went well
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
