package web

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"interlock/internal/identity"
	"interlock/internal/plan"
	"interlock/internal/record"
)

// keyHeader makes a submission one that can be sent again (C18): a planner
// that lost the answer sends the same plan with the same key and gets the
// first decision.
const keyHeader = "Idempotency-Key"

// maxKey bounds a key, in bytes.
const maxKey = 255

// An ongoing plan is one that is being decided.
type ongoing struct {
	agent  string
	digest string // of the plan
}

// idOf gives a submission its decision id. With a key it follows from key and
// credential, so that one key has one decision, whichever process decides it
// and however often it was started since: the record takes an id once.
func (s *Server) idOf(r *http.Request, who identity.Principal) (id string, keyed bool, err error) {
	keys := r.Header.Values(keyHeader)
	if len(keys) == 0 {
		return s.o.NewID(), false, nil
	}
	key := keys[0]
	if len(keys) > 1 || key == "" || len(key) > maxKey {
		return "", false, problem(http.StatusBadRequest, "expected one %s of 1 to %d characters", keyHeader, maxKey)
	}
	for _, b := range []byte(key) {
		if b <= ' ' || b > '~' {
			return "", false, problem(http.StatusBadRequest, "expected an %s of visible ASCII characters", keyHeader)
		}
	}
	sum := sha256.Sum256([]byte("interlock idempotency key\x00" + who.Token + "\x00" + key))
	return "d-" + hex.EncodeToString(sum[:16]), true, nil
}

// again answers a request whose key has been used; answered is false if it has
// not. Another plan under the same key is refused.
func (s *Server) again(w http.ResponseWriter, r *http.Request, sub plan.Submission) (answered bool, err error) {
	other := problem(http.StatusUnprocessableEntity, "this %s was used for another plan", keyHeader)
	digest := plan.Digest(sub.Plan)
	s.mu.Lock()
	current, deciding := s.deciding[sub.ID]
	s.mu.Unlock()
	if deciding {
		if current.digest != digest {
			return false, other
		}
		return true, promised(w, sub.ID)
	}
	d, err := s.o.Record.Get(r.Context(), sub.ID)
	switch {
	case errors.Is(err, record.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	case d.Received == nil || d.Received.PlanDigest != digest:
		return false, other
	case d.Decided == nil:
		return false, problem(http.StatusConflict, "the first request with this %s has no decision yet: another process is deciding it, or it was interrupted and a new key is needed", keyHeader)
	}
	return true, s.answer(w, r, d.Decided.Report)
}

// repeated answers a request that met an equal one on its way. Where the other
// came to nothing, this one may be sent again.
func (s *Server) repeated(w http.ResponseWriter, r *http.Request, sub plan.Submission) error {
	answered, err := s.again(w, r, sub)
	if err == nil && !answered {
		return &Problem{Status: http.StatusServiceUnavailable, Detail: "an equal request came to nothing: send this one again", RetryAfter: time.Second}
	}
	return err
}
