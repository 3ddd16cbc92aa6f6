//go:build unix && !linux

package wire

import (
	"os/exec"
	"syscall"
)

// setGroup gives the child a process group of its own. This system sends no
// signal when the parent dies; the child sees its input end.
func setGroup(cmd *exec.Cmd, _ bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func (p *Process) start() error {
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	return nil
}

func signalGroup(cmd *exec.Cmd, s syscall.Signal) error {
	return syscall.Kill(-cmd.Process.Pid, s)
}
