package probe_test

import (
	"context"
	"testing"
	"time"

	"interlock/internal/gate/probe"
)

// Whatever a sandbox says without having run the script confirms nothing.
func FuzzNothingSaidConfirms(f *testing.F) {
	f.Add("nonce 1\ndigest " + digest + "\negress 127.0.0.1:1 closed\nwrite /etc refused\nwrite /scratch done\n")
	f.Add("nonce\nnonce \nwrite\negress\n write  x\n\x00")
	f.Fuzz(func(t *testing.T, output string) {
		spec := probe.Spec{Declared: declared(), Language: "sh", Egress: []string{"127.0.0.1:1"}, Outside: []string{"/etc"}}
		run := func(context.Context, string) (string, error) { return output, nil }
		if res := probe.Run(t.Context(), spec, run, time.Now); res.OK() {
			t.Errorf("%q confirms: %+v", output, res.Checks)
		}
	})
}
