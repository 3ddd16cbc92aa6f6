// Command interlock verifies the plans of AI planners before a robot or a
// laboratory carries them out.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for an orderly end; a second one ends the program as
	// usual, also where it waits for input that never comes.
	context.AfterFunc(ctx, stop)
	code := run(&env{
		Ctx: ctx, Args: os.Args[1:], Getenv: os.Getenv,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	})
	stop()
	os.Exit(code)
}

// An env is everything a subcommand may touch of the process it runs in.
type env struct {
	Ctx    context.Context
	Args   []string
	Getenv func(string) string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}

// commands is the command line; every subcommand has a file of its own.
type commands struct {
	Check    checkCmd    `cmd:"" help:"Decide plans."`
	Demo     demoCmd     `cmd:"" help:"Decide a dozen example plans and serve the pages; needs no key, keeps nothing."`
	Eval     evalCmd     `cmd:"" help:"Measure decisions against labelled suites."`
	Screen   screenCmd   `cmd:"" help:"Score texts by the injection screen, or train it."`
	Serve    serveCmd    `cmd:"" help:"Serve API and pages; needs interlock init."`
	Init     initCmd     `cmd:"" help:"Make an installation: configuration, store, signing key, first reviewer."`
	Token    tokenCmd    `cmd:"" help:"Credentials of agents, reviewers and devices."`
	Review   reviewCmd   `cmd:"" help:"Plans that wait for a person."`
	Audit    auditCmd    `cmd:"" help:"The record: show, verify, export, replay, prove."`
	Doctor   doctorCmd   `cmd:"" help:"Show what is configured, reachable and unsafe; exit 1 if anything would fail."`
	Kg       kgCmd       `cmd:"" help:"The knowledge graph: build, stats, query, show."`
	Site     siteCmd     `cmd:"" help:"Site profiles and their rules as code: lint, test, show."`
	Prompt   promptCmd   `cmd:"" help:"What models are asked."`
	Conf     configCmd   `cmd:"" name:"config" help:"Write a configuration, with a panel of the models found."`
	Mcp      mcpCmd      `cmd:"" help:"Wrap an MCP server that speaks over stdio: stdio in, stdio out."`
	Tools    toolsCmd    `cmd:"" help:"The tools of the servers behind the gate: list, diff, approve."`
	Estop    estopCmd    `cmd:"" help:"Stop: void every grant until a person re-arms. Not a rated safety function."`
	Rearm    rearmCmd    `cmd:"" help:"End a stop; needs a reviewer's token."`
	Wire     wireCmd     `cmd:"" help:"Print the entry that puts the gate in front of a server in MCP clients."`
	Labsim   labsimCmd   `cmd:"" help:"A simulated laboratory as an MCP server."`
	RunChild runChildCmd `cmd:"" hidden:""`
	LabBox   labBoxCmd   `cmd:"" name:"labsim-sandbox" hidden:""`
	Version  versionCmd  `cmd:"" help:"Print the version."`
}

// The exit codes of the command-line contract.
const (
	exitOK       = 0
	exitInternal = 1
	exitInput    = 2 // bad usage or input
	exitTampered = 3 // audit verify
	exitEscalate = 10
	exitReject   = 11
)

// An exitError carries the exit code its command ends with. A nil Err prints
// nothing: the command has said everything.
type exitError struct {
	Code int
	Err  error
}

func (e *exitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *exitError) Unwrap() error { return e.Err }

// badInput marks err as the user's to mend.
func badInput(err error) error { return &exitError{Code: exitInput, Err: err} }

// run parses the arguments, runs the subcommand and returns the exit code.
func run(e *env) int {
	var cmds commands
	exited := -1
	parser, err := kong.New(&cmds, kong.Name("interlock"), kong.Description("The verification layer between an AI planner and the machine. Not a certified safety function."),
		kong.UsageOnError(), kong.Writers(e.Stdout, e.Stderr), kong.Exit(func(code int) { exited = code }), kong.Bind(e))
	if err != nil {
		fmt.Fprintln(e.Stderr, "interlock:", err)
		return exitInternal
	}
	kctx, err := parser.Parse(e.Args)
	if exited >= 0 {
		return exited // --help
	}
	if err != nil {
		fmt.Fprintln(e.Stderr, "interlock:", err)
		return exitInput
	}
	return exitCode(e, kctx.Run())
}

func exitCode(e *env, err error) int {
	if err == nil {
		return exitOK
	}
	var ee *exitError
	if !errors.As(err, &ee) {
		fmt.Fprintln(e.Stderr, "interlock:", err)
		return exitInternal
	}
	if ee.Err != nil {
		fmt.Fprintln(e.Stderr, "interlock:", ee.Err)
	}
	return ee.Code
}
