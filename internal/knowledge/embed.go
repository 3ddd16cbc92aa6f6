package knowledge

import _ "embed"

// embedded is what "interlock kg build" gives for the archived public sources.
//
//go:embed snapshot.ilkg
var embedded []byte

// Embedded opens the graph of public sources that is part of the program.
func Embedded() (*Graph, error) { return Open(embedded) }

// EmbeddedSize is the size of the embedded snapshot in bytes.
func EmbeddedSize() int { return len(embedded) }
