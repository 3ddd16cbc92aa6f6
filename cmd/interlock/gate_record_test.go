package main

import (
	"path/filepath"
	"testing"

	"interlock/internal/gate"
	"interlock/internal/gate/grant"
	"interlock/internal/gate/probe"
	"interlock/internal/site"
)

// Whatever the gate says a person must look at becomes one matter: from its
// journal, or, where it is in no journal, from the alert.
func TestEveryAlertIsOneMatter(t *testing.T) {
	t.Parallel()
	c := cli{t.TempDir()}
	c.install(t)
	e := c.env(t.Context(), nil, nil, nil)
	cfg, err := (&storeFlags{}).load(e)
	if err != nil {
		t.Fatal(err)
	}
	for kind, journalled := range map[grant.Kind]bool{
		grant.KindUnknown: true, grant.KindFailed: true, grant.KindDeviation: true, grant.KindSuspended: true, grant.KindPins: true, grant.KindRefused: false,
		probe.KindFailed: true,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			cfg := *cfg
			cfg.Store = filepath.Join(t.TempDir(), "s.db")
			log, err := openOrCreateLog(e, cfg.Store)
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			j := &recordJournal{log: log, site: "lab"}
			if journalled {
				if err := j.Append(t.Context(), grant.Event{Kind: kind, CallID: "c-1", Server: "s", Tool: "t", Reason: "why"}); err != nil {
					t.Fatal(err)
				}
			}
			j.Alert(t.Context(), gate.Alert{Kind: kind, Server: "s", Tool: "t", Reason: "why"})
			all, err := newQueue(log, &site.Set{}, cfg.Review).Matters(t.Context())
			if err != nil || len(all) != 1 || all[0].What != string(kind) || all[0].Reason != "why" || all[0].Site != "lab" {
				t.Errorf("%+v %v", all, err)
			}
			if kind == grant.KindUnknown && len(all) == 1 && all[0].ID != "c-1" {
				t.Errorf("an unknown call has the matter %s", all[0].ID)
			}
		})
	}
}
