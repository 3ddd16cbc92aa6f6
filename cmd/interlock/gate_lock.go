package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockGate keeps a store to one gate. A second gate would replay the same open
// grants and take the running calls of the first for lost, so that one call
// slot could be used twice (C14, C19). The operating system ends the lock with
// the process, however it dies.
func lockGate(store string) (release func() error, err error) {
	f, err := os.OpenFile(store+".gate", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keeping the store to one gate: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("another gate runs on %s: give each gate a store of its own", store)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}
