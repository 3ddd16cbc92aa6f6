package site

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interlock/internal/strict"
)

// A Set holds the profiles of one file or folder.
type Set struct {
	Sites []*Site
	path  string
}

// Load reads the profiles of a file, or of every .yaml and .yml file of a
// folder (not below it). No site may be given twice.
func Load(path string) (*Set, error) {
	files, err := profileFiles(path)
	if err != nil {
		return nil, err
	}
	set := &Set{path: path}
	from := map[string]string{}
	for _, file := range files {
		data, err := readProfile(file)
		if err != nil {
			return nil, err
		}
		sites, err := Decode(file, data)
		if err != nil {
			return nil, err
		}
		for _, s := range sites {
			if other, dup := from[s.ID]; dup {
				return nil, &strict.Error{File: file, Msg: fmt.Sprintf("site %q is also in %s", s.ID, other)}
			}
			from[s.ID] = file
		}
		set.Sites = append(set.Sites, sites...)
	}
	return set, nil
}

func profileFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	var files []string
	for _, e := range entries {
		if ext := strings.ToLower(filepath.Ext(e.Name())); !e.IsDir() && (ext == ".yaml" || ext == ".yml") {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, &strict.Error{File: path, Msg: "the folder holds no site profile: expected .yaml or .yml files"}
	}
	return files, nil
}

// readProfile reads a file up to one byte more than Decode takes.
func readProfile(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fileError(file, err)
	}
	defer func() { _ = f.Close() }() // only read: closing loses nothing
	data, err := io.ReadAll(io.LimitReader(f, maxProfileBytes+1))
	if err != nil {
		return nil, fileError(file, err)
	}
	return data, nil
}

// fileError says what is wrong with a file without naming it twice. It keeps
// the cause for errors.Is.
func fileError(path string, err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Site returns the site with the identifier, or nil.
func (s *Set) Site(id string) *Site {
	for _, site := range s.Sites {
		if site.ID == id {
			return site
		}
	}
	return nil
}

// Pick returns the site with the identifier, or the only one if id is "". The
// error names the sites there are.
func (s *Set) Pick(id string) (*Site, error) {
	if site := s.Site(id); site != nil {
		return site, nil
	}
	ids := s.IDs()
	switch {
	case id == "" && len(ids) == 1:
		return s.Sites[0], nil
	case id == "":
		return nil, fmt.Errorf("%s holds %d sites: name one of %s", s.path, len(ids), strings.Join(ids, ", "))
	default:
		return nil, fmt.Errorf("unknown site %q: %s has %s", id, s.path, strings.Join(ids, ", "))
	}
}

// IDs returns the identifiers of the sites, sorted.
func (s *Set) IDs() []string {
	var ids []string
	for _, site := range s.Sites {
		ids = append(ids, site.ID)
	}
	slices.Sort(ids)
	return ids
}

// Digest is the SHA-256 over the digests of all sites, hex.
func (s *Set) Digest() string {
	h := sha256.New()
	for _, id := range s.IDs() {
		fmt.Fprintf(h, "%s %s\n", s.Site(id).Digest, id)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// ParseRef splits FILE#ID, DIR#ID or FILE as the command line takes it. id is
// "" if none is named.
func ParseRef(ref string) (path, id string) {
	if i := strings.LastIndexByte(ref, '#'); i >= 0 {
		return ref[:i], ref[i+1:]
	}
	return ref, ""
}
