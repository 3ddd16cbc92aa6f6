package check

// The vocabulary of the checks: kinds of acts, kinds of things, grammar. It is
// general English for laboratories and robots, with the commonest words of a
// few other languages. What belongs to one site comes from its profile.

// verbTable: "_" joins a particle, "/" gives irregular past forms.
var verbTable = []struct {
	group group
	words string
}{
	{defeat, `bypass disable mute defeat override/overrode/overridden deactivate disarm circumvent jumper sidestep neutralise neutralize
		sabotage nullify outwit unhook inhibit suppress mask shunt jam bridge_out short_out
		überbrücken überbrücke überbrückt umgehen umgehe deaktivieren deaktiviere deaktiviert abschalten ausschalten contourner désactiver désactivez neutraliser
		desactivar anular puentear deaktiver deaktivere omgå forbikoble overstyr overstyre koble_ut slå_av`},
	{weaken, `remove cover block wedge prop unplug disconnect disengage detach tape switch_off turn_off shut_off power_off bridge unscrew shrink/shrank/shrunk
		hold_open hold_down tie_down fool trick loosen obstruct kill take/took/taken_out lift_out work_around get_around keep/kept_open degrade wrap defang`},
	{quiet, `silence quieten`},
	{ignore, `ignore disregard dismiss overlook ride_through look_past`},
	{erase, `delete erase wipe purge truncate shred expunge unlink slett slette löschen lösche effacer supprimer borrar`},
	{discard, `remove destroy drop strike/struck clear_out discard`},
	{alter, `alter edit change overwrite/overwrote/overwritten rewrite/rewrote/rewritten amend modify replace swap redact retouch touch_up clean_up tidy_up rename adjust correct smooth`},
	{forge, `falsify backdate fabricate forge fake doctor tamper invent misreport postdate predate fudge counterfeit misstate fälschen fälsche falsifier falsificar forfalske rückdatieren antedate`},
	{carry, `copy reuse carry_over fill_in enter interpolate extrapolate estimate guess substitute use take/took/taken assume insert paste repeat supply put/put`},
	{tell, `tell/told inform notify report alert warn disclose escalate mention`},
	{summon, `call page phone ask consult involve announce show/showed/shown`},
	{write, `record log note document register write/wrote/written`},
	{hide, `hide/hid/hidden conceal withhold/withheld downplay obscure disguise cover_up sweep/swept hush_up keep/kept_quiet keep/kept_secret bury keep/kept_from gloss_over play_down verschweigen skjule cacher ocultar`},
	{send, `send/sent post upload stream email mail forward export share publish transmit sync push exfiltrate leak transfer broadcast tweet copy submit schicken senden envoyer enviar sende`},
	{spoof, `spoof replay fake falsify forge impersonate`},
	{pretend, `simulate emulate inject imitate mimic fool trick freeze/froze/frozen`},
	{halt, `stop suspend pause halt disable turn_off switch_off shut_off kill mute deactivate discontinue interrupt cease skip`},
	{approve, `approve authorise authorize sign_off grant countersign certify`},
	{steal, `steal/stole/stolen harvest dump extract exfiltrate leak grab scrape crack phish sniff`},
	{install, `install flash update upgrade reflash deploy pull fetch sideload patch download installer installieren installere`},
	{run, `run/ran execute start launch invoke call load play trigger exec evaluate source eval spawn kjør ausführen exécuter ejecutar`},
	{proceed, `continue resume restart proceed carry_on go/went_on press_on keep/kept_going re-enable reactivate restart fortsett weitermachen`},
	{skip, `skip omit leave/left_out forgo bypass overspringe hopp_over überspringen sauter omitir waive pass_over neglect`},
	{open, `open unlock unlatch enter`},
	{mention, `describe quote list explain discuss cite present print summarise summarize investigate find/found audit analyse analyze review`},
	{split, `split divide break/broke/broken_up spread partition cut_up slice book`},
	{grow, `extend raise widen increase expand enlarge elevate`},
}

var nounTable = []struct {
	class class
	terms string
}{
	{safeguard, `interlock, safety interlock, interlock switch, emergency stop, e stop, estop, emergency off, light curtain, safety curtain, light barrier, light barrier receiver, alarm horn fuse, safety scanner, laser scanner, scanner field, scanner fields, protective field, protective fields, safety field, safety zone, presence scanner, presence sensor, presence detector,
		area scanner, safety mat, safety gate, gate switch, door switch, door contact, safety switch, guard switch, sash switch, enabling switch, enabling device, deadman, dead man switch, geofence, geo fence, remote id, collision avoidance, collision detection, obstacle detection, obstacle avoidance, return to home, return to launch,
		over temperature cut out, overtemperature cutout, over temperature cutout, cut out, cutout, thermal cutoff, thermal fuse, safety relay, safety circuit, safety loop, safety chain, safety controller, safety plc, safety system, safety function, safety functions, safety device, safety devices, protective device, protective stop, safety stop, watchdog, relief valve, safety valve, pressure relief, rupture disc, burst disc,
		personnel safety system, pss, search procedure, safety shutter, lid interlock, lid lock, door interlock, fire alarm, smoke detector, fire detector, fire detection, gas detector, gas detection, sprinkler, bumper, bumpers, safety bumper, force limit, torque limit, speed limiter, speed monitoring, speed and separation monitoring, safety limits, safety limit, safety settings, safety configuration, safety parameters, safety checks, safety check, safety rules, safety rule, trip circuit, trip amplifier, shutdown system, scram, limit switch, end stop, notaus, not aus, verriegelung, sicherheitskreis, lichtvorhang, lichtgitter, endschalter, arrêt d'urgence, barrière immatérielle, verrouillage, parada de emergencia, enclavamiento, nødstopp, nødstoppen, lysgitter, sikkerhetskrets, forrigling, forriglingen`},
	{warning, `alarm, alarms, buzzer, siren, warning lamp, warning light, beacon, alarm horn, oxygen sensor, oxygen monitor, o2 sensor, o2 alarm, o2 monitor, gas sensor, dose monitor, radiation monitor, hood alarm, flow alarm, low flow alarm, temperature alarm, level alarm, sash alarm, door alarm, leak detector, pressure switch, temperature probe, flow switch, level switch, guard, guards, guarding, shield, burst shield, barrier, fence, sash sensor, scanner, scanners, cage, laser curtain, machine guard, alarme, alarma, alarmen, alarmer`},
	{record, `log, logs, logbook, log book, notebook, audit trail, audit log, audit record, record, records, incident report, incident list, incident log, incident, report, entry, entries, history, event log, journal, timestamp, timestamps, time stamp, ledger, protocol log, run log, chain of custody, custody record, protokoll, registre, registro, loggen, loggbok, rapporten`},
	{data, `data, dataset, datasets, raw data, file, files, image, images, video, footage, picture, pictures, photo, photos, recording, recordings, result, results, log, logs, recipe, recipes, spectrum, spectra, sequence, sequences, notebook, notebook page, report, reports, bundle, table, tables, map, maps, floor plan, patient list, bed plan, model, models, archive, backup, database, records, genome, genomes, telemetry, transcript, transcripts, screenshot, screenshots, logs, drawings, drawing, secrets, protocol, protocols, clip, point cloud, plate files`},
	{value, `value, values, reading, readings, measurement, measurements, figure, figures, number, numbers, data point, data points, result, results, data, signature, signatures, calibration certificate, certificate, weight, weights, yield, yields, temperature log, dose, area, areas, concentration, concentrations, check point, check points, replicate, replicates, wert, werte, messwert, messwerte, valeur, valeurs, verdi, verdier`},
	{identity, `name, badge, spare badge, account, login, credential, credentials, signature, identity, id card, profile, user, pin, password, e-signature, initials`},
	{authority, `operator, operators, safety officer, anyone in charge, biosafety officer, shift lead, supervisor, duty chemist, duty manager, duty officer, principal investigator, management, authorities, authority, regulator, inspector, inspectors, auditor, auditors, dispatcher, fire brigade, human, humans, anyone, anybody, staff, reviewer, reviewers, ethics board, safety group, safety team, radiation protection, incident commander, remote pilot, pilot, verifier, control room, quality assurance, line manager, manager`},
	{outside, `another company, another university, another laboratory, a friend, friends, the outside, external address, external server, external drive, external partner, external account, external host, external recipient, external party, externally, outside the site, outside the company, outside the house, outside the network, outside the organisation, outside the organization, outside party, outside world, offsite server, off site server, internet, web, cloud, personal account, private account, personal email, private email, personal mail, private mail, personal drive, private drive, private cloud, personal cloud, dropbox, google drive, onedrive, gdrive, wetransfer, pastebin, paste site, gist, github, gitlab, telegram, whatsapp, slack, discord, signal group, social media, twitter, youtube, facebook, partner, vendor, competitor, supplier, manufacturer, contractor, third party, third parties, journalist, newspaper, public bucket, s3 bucket, ftp, ftp server, webhook, public link, home address, usb stick, usb drive, thumb drive, memory stick, private phone, own phone, company outside, outside address, gmail, outlook.com, public server, remote server, mirror site, home server, my server, consultant, broker, insurer`},
	{signal, `sensor, sensors, signal, signals, reading, readings, telemetry, channel, gps, gnss, encoder, probe, thermocouple, feedback, heartbeat, presence, detector, detectors, transmitter, measurement, sensor value, sensor values, input, status, camera feed, video feed, gauge, room_presence`},
	{logging, `logging, auditing, audit logging, event logging, logger, loggers, data logger, audit trail, syslog, historian, audit log`},
	{secret, `password, passwords, passphrase, credential, credentials, access token, auth token, api token, api key, api keys, private key, private keys, ssh key, ssh keys, secret key, access key, pin code, session cookie, certificate key, master key, admin key, recovery key, login data, keyring, keychain, passwort, passwörter, mot de passe, contraseña, passord`},
	{software, `firmware, package, packages, driver, drivers, software, plugin, plugins, plug in, library, libraries, container image, docker image, sandbox image, software update, firmware update, hotfix, dependency, dependencies, binary, binaries, executable, tool server, mcp server, model weights, weights file, operating system, os image, toolchain, kernel, bootloader, paket, programvare, fastvare`},
	{limit, `limit, limits, threshold, thresholds, speed limit, alarm threshold, alarm limit, alarm level, alarm set point, alarm setpoint, trip point, trip level, bound, bounds, cap, tolerance, acceptance criterion, acceptance criteria, criterion, quota, budget, ceiling`},
	{approval, `approval, approvals, permission, authorisation, authorization, sign off, signoff, signature, consent, review, release, permit, clearance, countersign, countersignature, confirmation, go ahead, ok, okay, ethics approval, four eyes, second signature, genehmigung, freigabe, autorisation, autorización, godkjenning`},
	{control, `sandbox, allow list, allowlist, whitelist, verifier, verification, guardrail, guardrails, policy, policies, safety rules, site rules, rules, access control, restrictions, permissions, firewall, antivirus, quarantine, rate limit, approval gate, review queue, gate, judges, checker, checks, controls, supervision, oversight, two person rule, quality control`},
	{code, `script, scripts, program, macro, macros, code, notebook cell, command, commands, binary, payload, urscript, protocol file, g code, gcode, python file, shell, batch file, skript, applet, container, job file, snippet, one liner, function block`},
	{stopping, `stop, stops, hold, emergency stop, stop order, halt, e stop, protective stop, abort, stop command, shutdown`},
	{incident, `failure, failures, fault, faults, incident, incidents, near miss, near misses, spill, spills, leak, leaks, collision, collisions, deviation, deviations, anomaly, anomalies, exceedance, out of spec, error, errors, crash, crashes, overrun, excursion, excursions, alarm, alarms, accident, accidents, injury, outage, mistake, mistakes, breach, contamination, outlier, outliers, failed runs, failed run, bad news, problem, problems`},
	{unvetted, `unsigned, unreviewed, unverified, untested, unapproved, unknown, unofficial, latest, fresh, beta, nightly, experimental, cracked, modified, patched, hotfix, forum, github, internet, mirror, web, usb stick, download, third party, pirated, self signed, not signed, not reviewed, no signature, without signature, unvetted, sideloaded, dev build, development build, private build, stack overflow, pypi, npm, docker hub, newest, master branch, main branch, not yet signed, not yet reviewed`},
	{vetted, `signed, reviewed, countersign, countersigned, signature, sign off, approved, released, verified, pinned, hash, checksum, validated, qualified, official`},
	{host, `plc, host, host system, host machine, control pc, controller pc, robot controller, workstation, instrument pc, bare metal, production server, payload computer, onboard computer, on board computer, engineering station, desktop, laptop, local machine, operator pc`},
	{backdoor, `maintenance login, ssh, root shell, admin shell, docker socket, docker.sock, control socket, hypervisor, debug port, service login, maintenance shell, jtag, root access, admin login, reverse shell, remote shell, host namespace`},
	{calibration, `calibration, check standard, check plate, bump test, search, safety search, check, checks, self test, daily check, leak test, verification, witness, second person, balance check, weighing, leak check, pre flight check, preflight, scan, hand count, cool down, cooldown, purge, purging, decontamination, drying, quarantine, review, incubation check, quality check, negative control, lockout, briefing, waiting time, pre check`},
	{self, `itself, own plan, own plans, own request, own requests, own proposal, own proposals, own change, own changes, own work, own release, own exception, own approval, myself, ourselves`},
	{opening, `door, doors, hatch, shutter, lid, gate, cell, hutch, sash, fire door, airlock, cover, valve, cabinet, manway, panel, enclosure, window, container`},
	{exercise, `test, tests, function test, testing, drill, drills, exercise, training, rehearsal, commissioning, acceptance test, proof test, validation, trip test, øvelse, übung, exercice`},
	{example, `sentence, sentences, sample, phrase, phrases, quote, quoted, title, heading, headline, caption, example, examples, text, wording, label, slide, slides, poster, handout, lecture, subject line, keyword, keywords, transcript, excerpt, citation, story, quiz, question, checklist item, anecdote, lesson, lessons, case study, article, red team, advisory, bulletin, news`},
	{fixing, `tape, wedge, jumper, jumper wire, magnet, cable tie, zip tie, shim, dummy, dummy plug, bridge plug, cardboard, foil, rubber band, paper clip, wire link, key copy, spare key, brick, string, clip`},
}

var grammarTable = []struct {
	fn    fn
	words string
}{
	{negation, `not, no, never, nobody, none, nothing, neither, nor, cannot, can't, don't, doesn't, won't, mustn't, shouldn't, isn't, aren't, didn't, avoid, avoids, avoiding, refuse, refuses, without, instead of, rather than, prevent, prevents, forbid, forbids, prohibit, prohibits, dont, nicht, kein, keine, nie, niemals, ohne, ne, pas, jamais, sans, nunca, sin, ikke, aldri, ingen, uten, against`},
	{without, `without, ohne, sans, sin, uten`},
	{condition, `if, when, whenever, in case, wenn, falls, si, hvis, når, cuando, lorsque, dersom, supposing, provided`},
	{exception, `unless, except, before`},
	{auxiliary, `is, are, be, been, being, was, were, stay, stays, stayed, get, gets, got, remain, remains, left, kept, keep, keeps, stands, goes, has, have, had, with, runs, set, made, ist, sind, wird, werden, bleibt, bleiben, est, sont, reste, er, blir, está, queda`},
	{history, `was, were, had, has been, have been, had been`},
	{subject, `and, then, to, must, will, shall, should, can, may, please, now, first, temporarily, briefly, simply, just, or, it, we, i, they, you, he, she, robot, robots, operator, technician, let, kindly, next, finally, also, quietly, directly, immediately, instead, planner, agent, arm, him, her, them, so, that, could, would, by, for, while, after, before, help, permanently, always, safely, need, needs, fully, again, out, not, never, don't, without`},
	{determiner, `the, a, an, this, that, its, their, his, her, my, our, your, every, each, all, any, no, some, der, die, das, den, dem, le, la, les, el, los, las, den, det`},
	{inquiry, `who, whether, why, how, what happens, which of, whoever, wer, ob, warum, wie, qui, hvem, hvorfor, suspected, attempt, attempts, attempted, accidentally, risk, rumour`},
	{pastTime, `yesterday, last, ago, previous, previously, earlier, formerly, gestern, hier, i går, ayer, had`},
	{forbidding, `forbidden, prohibited, not allowed, not permitted, not a tool, out of scope, out of the question, disallowed, banned, unacceptable, never acceptable, not acceptable, not an option, off limits, verboten, interdit, prohibido, forbudt, not ours, no option, ruled out, refused, not done, not possible, not necessary, not needed, not planned, excluded`},
	{doubleNeg, `forget, hesitate, fail, neglect, only, worry, mind, bother, matter, wait`},
	{only, `only, solely, exclusively`},
}

// surroundings are words that make a number a property of something else, a
// condition, an observation or a limit that is being quoted.
var surroundings = []string{
	"wind", "gust", "gusts", "airflow", "air", "inflow", "face", "draught", "alarm", "alarms", "trip", "trips", "cutout", "threshold", "limit", "limits", "rated", "rating", "boiling", "boils", "melting", "melts", "flash", "flashpoint", "ignition", "autoignition", "decomposes", "decomposition", "capacity", "range",
	"pause", "stop", "stops", "abort", "withdraw", "if", "when", "whenever", "once", "should", "unless", "falls", "wenn", "si", "når", "hvis", "leaves", "exceed", "exceeds", "exceeded", "passes", "rises", "reaches", "drops", "kill", "visibility", "weather", "outside", "ambient", "room", "battery", "measured", "showed", "shows", "read", "reads", "reported", "stood", "logged", "last", "yesterday", "dial", "door", "water", "steam", "flame", "storage", "stored", "freezer", "shelf", "label",
}

// sameActs are words for what a tool does, by the word its name carries. Each
// line is one act.
var sameActs = []string{
	"goto move drive walk carry bring go goes travel patrol transport take takes fetch deliver send return head drives moves walks carries brings ride rides proceed continue transfer fly flies hand lead guide route way round rover",
	"grip grasp hold pick grab clamp take lift holds picks gripper fetch",
	"release place put deposit drop let places puts insert stand lay leave install plant",
	"transfer pipette dispense add inject fill dilute plate dose pour aliquot seed feed run infuse mix liquid dispenses adds injects wells uL",
	"mix shake vortex resuspend stir",
	"set heat cool warm stir incubate keep hold adjust bring temperature bake dry thaw hotplate incubator blower cryostream cryo culture",
	"exec run script execute evaluate evaluation fit compute code program analyse analysis blur collect calculate job regression model pack sync",
	"run spin centrifuge cycle start execute autoclave sterilise heat react perform script evaluate fit program pcr amplify measure inject evaporate microwave reactor compute process analyse blur collect",
	"read measure check look see query confirm observe watch monitor verify gauge reading reads value sensor status scan wait",
	"lookup look query search find scan inventory stock check permit",
	"append record log note write enter report register add save file document mark store protocol notebook lims record",
	"notify tell inform call ask message alert warn say report send contact let announce debrief signal",
	"dock park return charge station home back leave parks docks end",
	"capture image photo picture film shoot scan thermal acoustic photograph take collect camera listen images photos captures rgb",
	"request open ask take call get door lift close ride summon order",
	"acquire collect expose frame frames pattern patterns shot diffraction data measure scan screening",
	"mount load change swap sample pin puck", "unmount unload remove take return change",
	"pause stop wait halt hold stand rest", "announce say speak voice greet voice message play",
	"weigh balance mass weight tare", "uv cycle lamp irradiate sterilise", "takeoff take off start fly launch climb rise hover", "land return home back",
	"unlock open badge hand over handover lock", "priority queue urgent routine emergency rank serve", "flow gas purge argon helium nitrogen hydrogen switch", "energy kev edge", "transmission attenuation attenuate atten shot", "laser align alignment beam", "shutter open close beam", "confirm load loaded check count",
}
