package journal

import (
	"context"
	"sync"

	"interlock/internal/gate/grant"
)

// Memory is a journal that keeps nothing beyond the process: for
// demonstrations, which say so.
type Memory struct {
	mu     sync.Mutex
	events []grant.Event
}

// Append implements grant.Journal.
func (m *Memory) Append(_ context.Context, e grant.Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, e)
	return nil
}

// Replay implements grant.Journal.
func (m *Memory) Replay(_ context.Context, visit func(grant.Event) error) error {
	for _, e := range m.Events() {
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

// Events returns what was appended.
func (m *Memory) Events() []grant.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]grant.Event(nil), m.events...)
}
