//go:build unix

package journal

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps a second process out: two writers would fork the journal.
func lock(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return errors.New("another process has it open")
		}
		return err
	}
	return nil
}
