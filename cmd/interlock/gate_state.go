package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"interlock/internal/gate/live"
	"interlock/internal/identity"
	"interlock/internal/strict"
)

// maxStateBytes bounds a report of the live state.
const maxStateBytes = 64 << 10

// stateHandler serves the live state of the gate's site:
//
//	GET  /v1/sites/{id}/state   what holds now, for everyone with a credential
//	POST /v1/sites/{id}/state   {"readings": {NAME: VALUE}}; better needs a device
//	POST /v1/sites/{id}/estop   {"reason": TEXT}; everyone with a credential
//	POST /v1/sites/{id}/rearm   {"reason": TEXT}; a person
func (gw *gateway) stateHandler(tokens *identity.Tokens) http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, f func(http.ResponseWriter, *http.Request, identity.Principal) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			who, err := principal(tokens, r)
			if err != nil {
				w.Header().Set("WWW-Authenticate", `Bearer realm="interlock"`)
				problem(w, http.StatusUnauthorized, "a credential is needed")
				return
			}
			if r.PathValue("id") != gw.live.Live().Site {
				problem(w, http.StatusNotFound, "the gate stands before another site")
				return
			}
			if err := f(w, r, who); err != nil {
				problem(w, stateStatus(err), err.Error())
			}
		})
	}
	handle("GET /v1/sites/{id}/state", func(w http.ResponseWriter, _ *http.Request, _ identity.Principal) error {
		return gw.showState(w)
	})
	handle("POST /v1/sites/{id}/state", func(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
		values, err := readState(r)
		if err != nil {
			return err
		}
		if err := gw.live.Report(r.Context(), live.Source{Name: who.String(), Device: who.Role == identity.Device}, values); err != nil {
			return err
		}
		return gw.showState(w)
	})
	handle("POST /v1/sites/{id}/estop", func(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
		reason, err := readReason(r)
		if err != nil {
			reason = "no reason was given" // a stop is never refused for its form
		}
		if err := gw.live.Stop(r.Context(), who.String(), reason); err != nil {
			return err
		}
		return gw.showState(w)
	})
	handle("POST /v1/sites/{id}/rearm", func(w http.ResponseWriter, r *http.Request, who identity.Principal) error {
		if who.Role != identity.Reviewer {
			return errNotPerson
		}
		reason, err := readReason(r)
		if err != nil {
			return err
		}
		if err := gw.live.Rearm(r.Context(), who.String(), reason); err != nil {
			return err
		}
		return gw.showState(w)
	})
	return mux
}

var errNotPerson = errors.New("only a person re-arms: a reviewer's token is needed")

func stateStatus(err error) int {
	var bad *strict.Error
	switch {
	case errors.Is(err, errNotPerson), errors.Is(err, live.ErrNotDevice), errors.Is(err, live.ErrNobody):
		return http.StatusForbidden
	case errors.As(err, &bad):
		return http.StatusBadRequest
	default:
		return http.StatusServiceUnavailable
	}
}

func (gw *gateway) showState(w http.ResponseWriter) error {
	s := gw.live.Live()
	type value struct {
		Value  string `json:"value"`
		At     string `json:"at"`
		Source string `json:"source,omitempty"`
	}
	out := struct {
		Site     string           `json:"site"`
		EStop    bool             `json:"estop"`
		Readings map[string]value `json:"readings"`
	}{s.Site, s.EStop, map[string]value{}}
	for name, v := range s.Readings {
		out.Readings[name] = value{v.Text, v.At.UTC().Format("2006-01-02T15:04:05.000Z"), v.Source}
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(out)
}

// readState reads {"readings": {name: text or number or true or false}}.
func readState(r *http.Request) (map[string]string, error) {
	root, err := readJSON(r)
	if err != nil {
		return nil, err
	}
	rd := strict.Reader{File: "body"}
	fields := rd.Fields(root, "the state", []string{"readings"})
	values := map[string]string{}
	for i := range fields {
		v := &fields[i].Value
		if v.Kind != strict.Map {
			rd.Fail(v.Pos, "readings: expected a map, found %s", v.Kind)
		}
		for j := range v.Fields {
			x := &v.Fields[j].Value
			if !slices.Contains([]strict.Kind{strict.String, strict.Number, strict.Bool}, x.Kind) {
				rd.Fail(x.Pos, "readings.%s: expected a text, a number, true or false", v.Fields[j].Key)
			}
			values[v.Fields[j].Key] = x.Text
		}
	}
	if len(values) == 0 {
		rd.Fail(root.Pos, "no readings")
	}
	return values, rd.Err()
}

func readReason(r *http.Request) (string, error) {
	root, err := readJSON(r)
	if err != nil {
		return "", err
	}
	rd := strict.Reader{File: "body"}
	reason := ""
	fields := rd.Fields(root, "the body", []string{"reason"})
	for i := range fields {
		reason = rd.Word(&fields[i].Value, "reason")
	}
	if reason == "" {
		rd.Fail(root.Pos, "reason is missing")
	}
	return reason, rd.Err()
}

func readJSON(r *http.Request) (*strict.Node, error) {
	data, err := io.ReadAll(io.LimitReader(r.Body, maxStateBytes))
	if err != nil {
		return nil, &strict.Error{File: "body", Msg: err.Error()}
	}
	return strict.JSON("body", 1, data)
}

// problem writes an RFC 9457 problem document.
func problem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": fmt.Sprint(detail)})
}
