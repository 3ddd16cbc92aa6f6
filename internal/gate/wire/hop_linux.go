package wire

import (
	"net"
	"syscall"
)

// canPeek says that an idle connection can be asked whether it is still open.
const canPeek = true

// silent reports whether an idle connection is open and nothing waits on it:
// what comes unasked is no answer.
func silent(c net.Conn) bool {
	s, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	open := false
	err = raw.Read(func(fd uintptr) bool {
		_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		open = err == syscall.EAGAIN
		return true
	})
	return err == nil && open
}
