package rule

import "interlock/internal/site"

// CompileOwn compiles the profile's checks without those of every site, for
// tests of the language.
func CompileOwn(s *site.Site, voc Vocabulary) (*Set, error) { return compileAll(s, nil, voc) }

// ReadProse returns a set with what is read of a profile's prose and no checks.
func ReadProse(s *site.Site) *Set { return &Set{prose: readProse(s)} }
