//go:build unix

package wire

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// Keep is what a shim does: it runs the command and then ends its whole
// process group, itself included, when the command ends or when it is asked to
// terminate, which the kernel does when the gate dies. It returns only if the
// command cannot be started, or if the shim has no group of its own.
func Keep(cmd *exec.Cmd) error {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case <-asked:
	case err = <-ended:
	}
	// Only a group of our own is ended: that is how the gate starts this.
	if syscall.Getpgrp() == os.Getpid() {
		_ = syscall.Kill(0, syscall.SIGKILL)
	}
	return err
}
