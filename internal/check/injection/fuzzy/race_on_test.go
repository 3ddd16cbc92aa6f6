//go:build race

package fuzzy

// raceOn says that the race detector is on: it allocates on its own.
const raceOn = true
