//go:build race

package ngram

// raceOn says that the race detector is on: it allocates on its own.
const raceOn = true
