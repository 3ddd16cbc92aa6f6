package wire

import (
	"strings"
	"testing"
)

func TestC28_ServersDoNotInheritTheGatesKeys(t *testing.T) {
	t.Setenv("INTERLOCK_CANARY_API_KEY", "canary-secret")
	for _, v := range Environment() {
		if strings.Contains(v, "canary") {
			t.Errorf("a server inherits %s", v)
		}
	}
}
