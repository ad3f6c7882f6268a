//! Raises the limit on open files if a run needs more.

use anyhow::{Context, Result, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Number of files besides the connections: the files of the engine, the standard streams and the result.
const OTHER_FILES: u64 = 64;

/// Raises the soft limit on open files if it is too low for this number of connections.
pub fn ensure_room(connections: u32) -> Result<()> {
    let required = u64::from(connections) + OTHER_FILES;
    let limit = getrlimit(Resource::Nofile);
    // `None` means unlimited.
    if limit.current.is_none_or(|soft| soft >= required) {
        return Ok(());
    }
    let raised = Rlimit { current: Some(required), maximum: limit.maximum.map(|hard| hard.max(required)) };
    let Err(error) = setrlimit(Resource::Nofile, raised) else { return Ok(()) };
    match limit.maximum.filter(|hard| *hard < required) {
        // Only privileged processes may raise the hard limit.
        Some(hard) => bail!(
            "{connections} connections require {required} open files, but the limit is {hard}; hint: run `ulimit -n {required}` or use fewer connections (-c)"
        ),
        None => Err(error).with_context(|| format!("cannot raise the limit on open files to {required}")),
    }
}
