package judge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"interlock/internal/llm"
	"interlock/internal/verdict"
)

// Options say what a model judge is.
type Options struct {
	Name          string // as configured; "" the model's name
	Family        string // vendor family: diversity is counted over these
	Vendor        string // who runs the model, for the site's data policy; "" Family
	Region        string // where it runs, "" unknown
	Hosted        bool   // not on the site's own machines
	ContextTokens int    // context window; 0 unknown: the provider says when it is too small
	Samples       int    // answers to the same prompt; 0 or 1: one
}

// FromModel makes a judge of a model. Every such judge of one frame asks the
// same question (C9).
func FromModel(m llm.Model, f *Frame, o Options) Judge {
	if o.Name == "" {
		o.Name = m.Name()
	}
	if o.Vendor == "" {
		o.Vendor = o.Family
	}
	o.Samples = max(o.Samples, 1)
	return &modelJudge{m, f, o}
}

type modelJudge struct {
	model llm.Model
	frame *Frame
	opt   Options
}

func (j *modelJudge) Name() string   { return j.opt.Name }
func (j *modelJudge) Family() string { return j.opt.Family }

// bytesPerToken is a careful estimate: prompts of prose, identifiers and
// numbers take about 3.5 bytes a token.
const bytesPerToken = 3

// answerTokens are kept free in the context window for the answer.
const answerTokens = 4096

// Judge asks the model, with fewer evidence lines if the prompt does not fit.
func (j *modelJudge) Judge(ctx context.Context, in Input) verdict.Opinion {
	if why := j.frame.policy(in.Site.ID).Bars(j.opt); why != "" {
		return verdict.Opinion{Abstained: why}
	}
	lines := len(in.Evidence)
	for {
		q, err := j.frame.Ask(in, lines)
		if err != nil {
			return verdict.Opinion{Abstained: err.Error(), Concern: errors.Is(err, ErrBoundary)}
		}
		if !j.fits(q) {
			if lines == 0 {
				return tooLong()
			}
			lines /= 2
			continue
		}
		o, long := j.samples(ctx, in, q)
		if !long {
			return o
		}
		if lines == 0 {
			return tooLong()
		}
		lines /= 2
	}
}

func tooLong() verdict.Opinion {
	return verdict.Opinion{Abstained: "too long: the prompt does not fit the model's context window even without evidence"}
}

func (j *modelJudge) fits(q Question) bool {
	if j.opt.ContextTokens <= 0 {
		return true
	}
	return (len(q.System)+len(q.Prompt))/bytesPerToken+answerTokens <= j.opt.ContextTokens
}

// samples asks as often as configured. long says that the provider found the
// prompt too long.
func (j *modelJudge) samples(ctx context.Context, in Input, q Question) (o verdict.Opinion, long bool) {
	answers := make(chan sampled, j.opt.Samples)
	for i := range j.opt.Samples {
		go func() {
			one, long := j.once(ctx, in, q, i)
			answers <- sampled{i, one, long}
		}()
	}
	all := make([]sampled, j.opt.Samples)
	for range j.opt.Samples {
		s := <-answers
		all[s.n] = s
	}
	for _, s := range all {
		if s.long {
			return o, true
		}
	}
	return merge(all), false
}

type sampled struct {
	n       int
	opinion verdict.Opinion
	long    bool
}

// once asks the model one time.
func (j *modelJudge) once(ctx context.Context, in Input, q Question, sample int) (o verdict.Opinion, long bool) {
	req := q.Request
	req.Sample = sample
	reply, err := j.model.Complete(ctx, req)
	if err != nil {
		return verdict.Opinion{Abstained: abstention(err), LeftOut: q.LeftOut}, false
	}
	if reply.Stop == llm.StopTooLong {
		return o, true
	}
	return FromReply(reply, q, in), false
}

// FromReply turns a model's reply to a question into an opinion. It has no
// judge's name yet.
func FromReply(reply llm.Reply, q Question, in Input) verdict.Opinion {
	var o verdict.Opinion
	switch reply.Stop {
	case llm.StopTooLong:
		o = tooLong()
	case llm.StopRefused:
		o = verdict.Opinion{Abstained: "refused to judge", Concern: true}
	case llm.StopLength:
		o = verdict.Opinion{Abstained: "the answer was cut at the token limit"}
	case llm.StopDone:
		o = readWith(reply.Text, in, q.ids)
	default:
		o = verdict.Opinion{Abstained: "the model did not say that it finished"}
	}
	o.Rationale = q.Back(o.Rationale)
	for i := range o.Risks {
		o.Risks[i].Hazard = q.Back(o.Risks[i].Hazard)
	}
	o.Model, o.LeftOut = reply.Model, q.LeftOut
	o.Usage = verdict.Usage{InputTokens: reply.InputTokens, OutputTokens: reply.OutputTokens, Cost: reply.Cost}
	return o
}

func abstention(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "did not answer in time"
	case errors.Is(err, context.Canceled):
		return "not waited for: the result was settled, or nobody waits for it any more"
	default:
		return "not reached: " + err.Error()
	}
}

// merge makes one opinion of several answers of the same model. The outcome is
// that of most of them, an escalation if there is no most; the risks are those
// of every answer, so that none is hidden; the confidence is what the answers
// share. Agreement of one model with itself is shown apart: it is no diversity.
func merge(all []sampled) verdict.Opinion {
	if len(all) == 1 {
		return all[0].opinion
	}
	var valid []verdict.Opinion
	var names []string
	usage := verdict.Usage{}
	for _, s := range all {
		o := s.opinion
		usage.InputTokens += o.Usage.InputTokens
		usage.OutputTokens += o.Usage.OutputTokens
		usage.Cost += o.Usage.Cost
		if !o.Valid() {
			names = append(names, "abstained: "+o.Abstained)
			continue
		}
		names = append(names, o.Outcome.String())
		valid = append(valid, o)
	}
	out := pick(all, valid)
	out.Samples, out.Usage = names, usage
	return out
}

func pick(all []sampled, valid []verdict.Opinion) verdict.Opinion {
	for _, s := range all {
		if s.opinion.Concern {
			return s.opinion // one refusal is a concern however the others answer
		}
	}
	if 2*len(valid) <= len(all) {
		return verdict.Opinion{Abstained: fmt.Sprintf("%d of %d answers could be read", len(valid), len(all))}
	}
	votes := map[verdict.Outcome]int{}
	for _, o := range valid {
		votes[o.Outcome]++
	}
	outcome := verdict.Escalate
	for o, n := range votes {
		if 2*n > len(all) {
			outcome = o
		}
	}
	out := valid[0]
	at := slices.IndexFunc(valid, func(o verdict.Opinion) bool { return o.Outcome == outcome })
	if at >= 0 {
		out = valid[at]
	}
	out.Outcome = outcome
	if at < 0 {
		out.Class = verdict.Unclassified
	}
	out.Confidence, out.Risks, out.Cites, out.Unfounded = 0, nil, nil, nil
	for _, o := range valid {
		if o.Outcome == outcome {
			out.Confidence += o.Confidence / float64(len(all))
		}
		out.Risks = append(out.Risks, worse(o.Risks, out.Risks)...)
		out.Cites = append(out.Cites, missing(o.Cites, out.Cites)...)
		out.Unfounded = append(out.Unfounded, missing(o.Unfounded, out.Unfounded)...)
	}
	return out
}
