// Package interlock is the map of the module; it holds no code.
//
// Interlock is the verification layer between an AI planner and the machine
// that carries its plans out. A plan travels one way:
//
//	plan.Decode -> check -> knowledge -> rule -> judge -> (redaction) -> chief -> decide -> record
//	                 |                                                              |
//	                 +--- a block skips the judges            review (a person) <---+---> gate (MCP)
//
// Read verdict first: it is the vocabulary every other package speaks. Then
// pipeline, which is the order of the stages, and decide, which is the
// decision as a pure function. In XACML's words pipeline decides (PDP), gate
// enforces (PEP), knowledge informs (PIP), config administers (PAP).
//
// Which package may import which is stated once, in arch_test.go, and enforced
// by go test. Why it is built so, and what it does not protect against, is in
// docs/design.md.
package interlock
