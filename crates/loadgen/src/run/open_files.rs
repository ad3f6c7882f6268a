//! The limit on open files, raised before a run that exceeds it.

use anyhow::{Context, Result, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files beside the connections: the engine, epoll or io_uring, standard streams, the result.
const OTHER_FILES: u64 = 64;

/// Makes room for `connections` sockets: raises the soft limit where the hard one allows.
pub fn ensure_room(connections: u32) -> Result<()> {
    let required = u64::from(connections) + OTHER_FILES;
    let limit = getrlimit(Resource::Nofile);
    // No limit is `None`.
    if limit.current.is_none_or(|soft| soft >= required) {
        return Ok(());
    }
    if let Some(hard) = limit.maximum.filter(|hard| *hard < required) {
        bail!(
            "{connections} connections require {required} open files, but the limit is {hard}; hint: `ulimit -n {required}`, or fewer connections (-c)"
        );
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(required), ..limit })
        .with_context(|| format!("cannot raise the limit on open files to {required}"))
}
