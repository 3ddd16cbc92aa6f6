package wire

import (
	"os/exec"
	"runtime"
	"syscall"
)

// setGroup gives the child a process group of its own and has the kernel
// signal it when its parent dies, however that happens.
func setGroup(cmd *exec.Cmd, shim bool) {
	onDeath := syscall.SIGKILL
	if shim {
		onDeath = syscall.SIGTERM // the shim passes it on to the whole group
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: onDeath}
}

// start starts the child from a thread that is kept until the child ends: the
// parent-death signal is sent when the thread that started the child ends,
// and Go ends threads as it likes.
func (p *Process) start() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait()
			close(p.done)
		}
	}()
	return <-started
}

func signalGroup(cmd *exec.Cmd, s syscall.Signal) error {
	return syscall.Kill(-cmd.Process.Pid, s)
}
