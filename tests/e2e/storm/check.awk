# SPDX-License-Identifier: Apache-2.0
# Compares the calls in a capture of the storm with those that it made: awk -f check.awk TRUTH STATS
# CALLS. TRUTH is what the program printed, STATS what saker -v did, CALLS a line per call: thread,
# type, result, arguments. Each worker's names are numbered.
FNR == 1 { file++ }
file == 1 && $1 == "calls" { made = 2 * $2 } # as many getppid as prctl
file == 2 && $1 == "records" && $2 == "lost" { lost = $3 }
file == 2 && /sampler runs/ { runs = $NF }
file == 2 && /stack samples/ { runs -= $3 }
file == 2 && (/samples lost/ || /samples filtered/) { runs -= $NF }
file == 3 { seen++ }
file == 3 && $2 == "getppid" {
	parent = parent ? parent : $4
	if ($0 !~ /^[0-9]+ getppid SUCCESS res=[0-9]+ $/ || $4 != parent)
		torn(seen)
}
file == 3 && $2 == "prctl" {
	n = $0
	sub(/.*=worker-/, "", n)
	if ($0 !~ /^[0-9]+ prctl SUCCESS res=0 option=15\(PR_SET_NAME\) arg2_str=worker-[0-9]+ arg2_int=0 $/ ||
	    ($1 in last && n + 0 <= last[$1]))
		torn(seen)
	last[$1] = n + 0
}
function torn(at) {
	print "storm: line " at " is not what was called: " $0
	n_torn++
}
END {
	told = "storm " (!made || n_torn || seen > made || seen + lost < made || runs ? "not told" : "told")
	print told ": " seen + 0 " of " made + 0 " calls, " lost + 0 " records lost, " \
		n_torn + 0 " torn, " runs + 0 " sampler runs unaccounted for"
}
