package check

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"

	"interlock/internal/verdict"
)

// commands are words that begin a command line when the word after them fits;
// an empty list means any argument.
var commands = map[string][]string{
	"ros2": {"param", "topic", "service", "run", "launch", "action", "node", "lifecycle", "control"}, "rosservice": nil, "rostopic": nil, "rosparam": nil, "rosrun": nil, "roslaunch": nil,
	"sudo": nil, "curl": nil, "wget": nil, "chmod": nil, "chown": nil, "ssh": {"-", "@"}, "scp": nil, "rsync": nil, "nc": {"-"}, "ncat": {"-"}, "rm": {"-r", "-f"}, "dd": {"if="}, "mkfs": nil,
	"bash": {"-", "/", "<"}, "sh": {"-", "/"}, "zsh": {"-"}, "python": {"-", "/"}, "python3": {"-", "/"}, "perl": {"-"}, "node": {"-"}, "powershell": nil, "cmd.exe": nil, "kubectl": nil, "docker": {"run", "exec", "cp", "pull", "load"},
	"git": {"clone", "pull", "push"}, "pip": {"install"}, "pip3": {"install"}, "npm": {"install", "i "}, "apt": {"install"}, "apt-get": {"install"}, "conda": {"install"}, "cargo": {"install"}, "crontab": nil, "systemctl": nil, "nsenter": nil, "insmod": nil, "modprobe": nil, "eval": {"$", "\"", "'", "("}, "export": {"PATH", "LD_"}, "iptables": nil, "mount": {"-", "/"}, "kill": {"-"}, "pkill": nil, "tee": {"/"},
}

// calls are the functions of robot, instrument and scripting languages that
// show code when followed by a bracket.
var callNames = []string{"movej(", "movel(", "movep(", "servoj(", "speedj(", "speedl(", "set_digital_out(", "set_standard_digital_out(", "set_tcp(", "popup(", "textmsg(", "socket_open(", "protocol.load_", "protocol_api", "os.system(", "subprocess.", "__import__(", "eval(", "exec(", "popen(", "import os\n", "import os;", "import sys\n", "import sys;", "import subprocess", "require(", "document.cookie", "xp_cmdshell", "load_file(", "pg_sleep(", "rostopic.pub", "rospy.", "rclpy.", "\"op\":\"publish\"", "\"op\": \"publish\"", "\"op\":\"call_service\"", "createobject(", "shell(\"", "execute immediate ", "os.remove(", "set_tool_voltage(", "end sub", "endproc", "end_if;", "<launch"}

// commandIn finds a command line, a program or a query in text and says what
// it is; kind is "" when there is none. In prose a single word such as "kill"
// begins no command, so commands count only with their argument.
func commandIn(p *part, inProse bool) (kind string, start, end int) {
	text := p.text
	if !mayHoldCode(p) {
		return encoded(text)
	}
	low, in := lowerInPlace(text), marksOf(text)
	if i := strings.Index(low, "```"); i >= 0 && inProse {
		return "a code block", i, i + 3
	}
	for _, c := range callMarks {
		if c.marks&^in != 0 {
			continue
		}
		if i := strings.Index(low, c.text); i >= 0 && !wordBefore(low, i) {
			return "program text", i, i + len(c.text)
		}
	}
	if kind, start, end = query(text, low, in); kind != "" {
		return kind, start, end
	}
	if kind, start, end = shell(text, in); kind != "" {
		return kind, start, end
	}
	for i := 0; i < len(low); {
		n := wordEnd(low[i:])
		if n == 0 {
			i++
			continue
		}
		if follow, ok := commands[low[i:i+n]]; ok && i+n < len(low) && low[i+n] == ' ' && fits(low[i+n+1:], follow, inProse) {
			return "a command line", i, i + n
		}
		i += n
	}
	if kind, start, end = machineCode(text); kind != "" {
		return kind, start, end
	}
	if i := localProgram(low); i >= 0 {
		return "a command line", i, i + len("./")
	}
	if loneImport(low) {
		return "program text", 0, len(text)
	}
	return encoded(text)
}

// lowerInPlace is the text in lower case with every character where it was:
// one whose lower case has another length stays, as do bytes that are no
// UTF-8, so that a place in the result is the place in the text.
func lowerInPlace(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(s)
	}
	b := []byte(s)
	for i, r := range s {
		if l := unicode.ToLower(r); l != r && utf8.RuneLen(l) == utf8.RuneLen(r) {
			utf8.EncodeRune(b[i:], l)
		}
	}
	return string(b)
}

// marks are the characters of code in a text, as bits: a phrase of code is only
// looked for where all of its marks are.
type marks uint32

// markBits gives each character of code its bit. Letters stand for both cases.
var markBits = func() (t [256]marks) {
	for i, c := range []byte("$`|&<>{\\#\"('%/.;_=-*\n@!:") {
		t[c] = 1 << i
	}
	return t
}()

func marksOf(s string) (m marks) {
	for i := 0; i < len(s); i++ {
		m |= markBits[s[i]]
	}
	return m
}

// A marked phrase of code.
type marked struct {
	text  string
	marks marks
}

func mark(texts ...string) []marked {
	out := make([]marked, len(texts))
	for i, t := range texts {
		out[i] = marked{t, marksOf(t)}
	}
	return out
}

var (
	callMarks  = mark(callNames...)
	shellMarks = mark("$(", "${", "`;", "|sh", "| sh ", "|bash", "| bash", "&& ", "; rm ", ";rm ", "; cat /", ">/dev/", "> /dev/", "#!/", "<script", "{{", "{%", "../..", "%0a", "\\x", "/etc/passwd", "/bin/sh")
)

// mayHoldCode is a cheap test that is true for every text in which commandIn
// could find anything but an encoded one: a mark that code needs, or a word
// that begins a command, a statement or a line of G-code.
func mayHoldCode(p *part) bool {
	if p.role == roleAttachment {
		return true // its words are not read
	}
	for i := range p.toks {
		t := &p.toks[i]
		if t.fn&codeWord != 0 || !isDigit(t.word[0]) && strings.IndexByte(t.word, '.') >= 0 || len(t.word) >= 2 && (t.word[0] == 'g' || t.word[0] == 'm') && isDigit(t.word[1]) {
			return true
		}
	}
	for i := 0; i < len(p.text); i++ {
		if markBits[p.text[i]] == 0 {
			continue
		}
		next := byte(0)
		if i+1 < len(p.text) {
			next = p.text[i+1]
		}
		switch p.text[i] {
		case '$', '`', '|', '&', '<', '>', '{', '\\', '#', '"':
			return true
		case '(':
			if i > 0 && base64Byte(p.text[i-1]) {
				return true
			}
		case '\'':
			if next == ')' || next == ';' || strings.HasPrefix(p.text[i+1:], " or") || strings.HasPrefix(p.text[i+1:], " OR") {
				return true
			}
		case '%', '/', '.':
			if next == '0' || next == 'e' || next == 'b' || next == '.' || next == 'd' {
				return true
			}
		}
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// fits reports whether the argument after a command is one; in prose a command
// that takes any argument needs one that looks like a flag, path or address.
func fits(rest string, follow []string, inProse bool) bool {
	rest = strings.TrimLeft(rest, " ")
	if scriptName(cutSpace(rest)) {
		return true
	}
	if follow == nil {
		if !inProse {
			return rest != ""
		}
		follow = []string{"-", "/", "http", "$", "install ", "+x", "7", "stop ", "disable ", "restart ", "pub ", "call ", "set ", "\"", "python", "rm ", "bash", "sh ", "exec "}
	}
	for _, f := range follow {
		if strings.HasPrefix(rest, f) || f == "@" && strings.Contains(cutSpace(rest), "@") {
			return true
		}
	}
	return false
}

func cutSpace(s string) string {
	head, _, _ := strings.Cut(s, " ")
	return head
}

// statements are the beginnings of database statements, each with what must
// follow within reach unless it is written in capitals: prose says "insert
// into the rack" and "delete from the list" as well.
var statements = [...][2]string{{"update ", " set "}, {"delete from ", " where "}, {"insert into ", "values"}, {"drop table", ";"}, {"alter table", ";"}, {"drop database", ";"}, {"truncate table", ";"}, {"union select", ""}, {"select ", " from "}, {"' or '1'='1", ""}, {"' or 1=1", ""}, {"');", ""}, {"'; --", ""}, {"\";--", ""}}

// query finds database statements and the usual ways to break out of one.
func query(text, low string, in marks) (string, int, int) {
	const reach = 80
	for _, q := range statements {
		if marksOf(q[0])&^in != 0 {
			continue
		}
		i := strings.Index(low, q[0])
		if i < 0 || i+len(q[0]) > len(text) || q[0][0] >= 'a' && wordBefore(low, i) {
			continue
		}
		rest := low[i+len(q[0]):]
		rest = rest[:min(len(rest), reach)]
		capitals := len(text) == len(low) && text[i:i+len(q[0])] == strings.ToUpper(q[0])
		j := strings.Index(rest, q[1])
		found := q[1] == "" || j >= 0
		if capitals && q[0] == "select " && j >= 0 && len(text) == len(low) && strings.Contains(text[i:], " FROM ") {
			return "a database statement", i, i + len(q[0])
		}
		switch q[0] {
		case "update ":
			found = found && !strings.Contains(rest[:max(j, 0)], " ") && strings.Contains(rest[max(j, 0):], "=")
		case "select ":
			found = found && (strings.Contains(rest[:max(j, 0)], "*") || strings.Contains(rest, " where ") && strings.Contains(rest, "="))
		case "delete from ":
			found = found && strings.Contains(rest, "=")
		}
		if found || capitals && q[0] != "select " && q[0] != "update " {
			return "a database statement", i, i + len(q[0])
		}
	}
	return "", 0, 0
}

// shell finds the marks of shell expansion and pipelines.
func shell(text string, in marks) (string, int, int) {
	for _, m := range shellMarks {
		if m.marks&^in != 0 {
			continue
		}
		if i := strings.Index(text, m.text); i >= 0 {
			return "a shell or template expression", i, i + len(m.text)
		}
	}
	if i := strings.IndexByte(text, '`'); i >= 0 {
		if j := strings.IndexByte(text[i+1:], '`'); j > 0 && startsCommand(text[i+1:i+1+j]) {
			return "a shell or template expression", i, i + j + 2
		}
	}
	return "", 0, 0
}

// startsCommand reports whether quoted text begins like a command line.
func startsCommand(s string) bool {
	_, known := commands[cutSpace(strings.ToLower(s))]
	return known || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "/")
}

// machineCode finds lines of G-code and URScript blocks.
func machineCode(text string) (string, int, int) {
	offset, lines := 0, 0
	for line := range strings.Lines(text) {
		l := strings.TrimSpace(line)
		if strings.HasPrefix(l, "def ") && strings.Contains(l, "(") && strings.HasSuffix(l, ":") {
			return "program text", offset, offset + len(l)
		}
		if robotLine(l) {
			return "a robot's program", offset, offset + len(l)
		}
		if f := strings.Fields(l); len(f) >= 2 && gWord(f[0], "GM") && gWord(f[1], "XYZABCFSEIJKPR") {
			if lines++; lines > 1 || len(f) > 2 && gWord(f[2], "XYZABCFSEIJKPR") {
				return "G-code", offset, offset + len(l)
			}
		}
		offset += len(line)
	}
	return "", 0, 0
}

// gWord reports a letter of set followed by a number: G1, X10.5, F-300.
func gWord(s, set string) bool {
	return len(s) >= 2 && strings.IndexByte(set, s[0]) >= 0 && strings.Trim(s[1:], "0123456789.-") == "" && (set != "GM" || len(s) <= 4)
}

// encoded finds base64 that decodes to text: a program in disguise.
func encoded(text string) (string, int, int) {
	const shortest = 32
	for from := 0; ; {
		i, j := longRun(text, from, shortest, &base64Bytes)
		if i < 0 {
			return "", 0, 0
		}
		if hasCapital(text[i:j]) {
			raw := strings.TrimRight(text[i:j], "=")
			if out, err := base64.RawStdEncoding.DecodeString(raw[:len(raw)/4*4]); err == nil && printable(out) {
				return "an encoded text", i, j
			}
		}
		from = j
	}
}

// longRun finds the first run of at least shortest bytes of a set in s[from:];
// start is -1 if there is none. It reads backwards from where such a run must
// reach to: of most texts one byte in many.
func longRun(s string, from, shortest int, of *[256]bool) (start, end int) {
	for i := from; i+shortest <= len(s); {
		k := i + shortest
		for k > i && of[s[k-1]] {
			k--
		}
		if k > i {
			i = k // no run that reaches over this byte
			continue
		}
		for k = i + shortest; k < len(s) && of[s[k]]; k++ {
		}
		return i, k
	}
	return -1, 0
}

func hasCapital(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return 'A' <= r && r <= 'Z' }) >= 0
}

func base64Byte(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '/' || c == '='
}

var base64Bytes = func() (t [256]bool) {
	for c := range t {
		t[c] = base64Byte(byte(c))
	}
	return t
}()

func printable(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return false
		}
	}
	return true
}

func wordBefore(s string, i int) bool {
	return i > 0 && (s[i-1] == '_' || s[i-1] == '.' || 'a' <= s[i-1] && s[i-1] <= 'z' || '0' <= s[i-1] && s[i-1] <= '9')
}

// wordEnd is the length of a command word at the start of s.
func wordEnd(s string) int {
	i := 0
	for i < len(s) && ('a' <= s[i] && s[i] <= 'z' || '0' <= s[i] && s[i] <= '9' || s[i] == '.' || s[i] == '-' || s[i] == '_') {
		i++
	}
	return i
}

// argumentCode looks for code in the arguments of calls. A call of the sandbox
// tool is the one place where a script belongs; there, ways out are looked for.
func (x *index) argumentCode(p *part, dst []verdict.Finding) []verdict.Finding {
	if a := x.site.FindAgent(p.text); a != nil && !trusted(a.Trust) {
		f := codeFinding("PROV-018", verdict.Block, p.span, "a call is addressed to an agent that the site does not trust")
		f.Need, f.Refs = "address it to a person or a registered agent", []string{"CWE-862"}
		dst = append(dst, f)
	}
	if x.codeTool(p.tool) {
		return x.scriptArgument(p, dst)
	}
	if i := placeholder(p.text); i >= 0 {
		f := codeFinding("PROV-040", verdict.Flag, p.at(i, len(p.text)), "an argument holds a placeholder in place of a value")
		f.Need, f.Refs = "give the value itself", nil
		dst = append(dst, f)
	}
	if kind, start, end := commandIn(p, freeText(p.arg)); kind != "" {
		return append(dst, codeFinding("PROV-032", verdict.Block, p.at(start, end), kind+" in an argument of "+p.tool))
	}
	if i := strings.IndexAny(p.text, "\n\r\x00\x1b"); i >= 0 && !freeText(p.arg) {
		return append(dst, codeFinding("PROV-033", verdict.Block, p.at(i, i+1), "a line break or control character in an argument that is a name"))
	}
	if i := callSyntax(p.text); i >= 0 && !freeText(p.arg) {
		level := verdict.Flag
		if strings.ContainsAny(p.text[:i], "_.") {
			level = verdict.Block
		}
		return append(dst, codeFinding("PROV-034", level, p.at(0, i+1), "an argument that is a name is written as a call"))
	}
	if i := strings.Index(p.text, "://"); i >= 0 {
		return append(dst, codeFinding("PROV-035", verdict.Flag, p.at(max(0, i-5), i+3), "an argument points to an address on a network"))
	}
	return dst
}

// placeholder finds "<…>" with words inside: a value that is filled in later is
// not the value that is judged (C42).
func placeholder(s string) int {
	i := strings.IndexByte(s, '<')
	if i < 0 || i+2 >= len(s) || s[i+1] == ' ' || s[i+1] == '=' || isDigit(s[i+1]) {
		return -1
	}
	if j := strings.IndexByte(s[i:], '>'); j > 2 {
		return i
	}
	return -1
}

// callSyntax finds "name(" with something inside, or -1.
func callSyntax(s string) int {
	last := strings.LastIndexByte(s, ')')
	for i := 1; i < last-1; i++ {
		if s[i] == '(' && base64Byte(s[i-1]) && s[i+1] != ')' {
			return i
		}
	}
	return -1
}

// scriptArgument looks at a script handed to the sandbox for ways out of it.
func (x *index) scriptArgument(p *part, dst []verdict.Finding) []verdict.Finding {
	low := lowerInPlace(p.text)
	for _, w := range [...]string{"docker.sock", "--privileged", "nsenter", "/proc/1/", "chroot", "/.ctl", "--ctl", "unshare", "ptrace", "--net=host", "--pid=host", "cap_sys_admin", "/var/run/", "setns", "mount ", "authorized_keys"} {
		if i := strings.Index(low, w); i >= 0 {
			return append(dst, codeFinding("PROV-036", verdict.Block, p.at(i, i+len(w)), "the script reaches for a way out of the sandbox"))
		}
	}
	for _, w := range [...]string{"curl ", "wget ", "http://", "https://", "ftp://", "ssh ", "scp ", "pip install", "npm install", "apt install", "apt-get ", "git clone", "nc -", "/dev/tcp/", "socket.", "requests."} {
		if i := strings.Index(low, w); i >= 0 {
			return append(dst, codeFinding("PROV-037", verdict.Block, p.at(i, i+len(w)), "the script reaches for the network or installs something"))
		}
	}
	for _, w := range [...]string{"rm -rf", ":(){", "while true", "fork(", "; ", "&&", "| ", "$("} {
		if i := strings.Index(low, w); i >= 0 {
			return append(dst, codeFinding("PROV-038", verdict.Flag, p.at(i, i+len(w)), "the script is more than a reviewed file with its arguments"))
		}
	}
	return dst
}

// attachmentCode notes code in an attachment. It is data until a step runs it,
// and what a step runs is checked there.
func (x *index) attachmentCode(p *part, dst []verdict.Finding) []verdict.Finding {
	if kind, start, end := commandIn(p, true); kind != "" {
		return append(dst, codeFinding("PROV-039", verdict.Flag, p.at(start, end), kind+" in an attachment"))
	}
	return dst
}

// dotted reports a name of the form tool.call: letters, digits and
// underscores around single points, no file ending.
func dotted(s string) bool {
	parts := strings.Split(s, ".")
	if len(parts) < 2 || len(parts) > 3 || scriptName(s) {
		return false
	}
	for _, p := range parts {
		if len(p) < 2 || strings.Trim(p, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || p[0] < 'a' {
			return false
		}
	}
	return true
}
