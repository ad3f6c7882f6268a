//! The limit on open files, checked before a run that would break it.

use anyhow::{Context, Result, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files beside the connections: the engine, epoll or io_uring, standard streams, the result.
const OTHER_FILES: u64 = 64;

/// Makes room for `connections` sockets: raises the soft limit where the hard one allows.
pub fn ensure_room(connections: u32) -> Result<()> {
    let needed = u64::from(connections) + OTHER_FILES;
    let limit = getrlimit(Resource::Nofile);
    // No limit is `None`.
    if limit.current.is_none_or(|soft| soft >= needed) {
        return Ok(());
    }
    if let Some(hard) = limit.maximum.filter(|hard| *hard < needed) {
        bail!(
            "{connections} connections need {needed} open files, but the limit is {hard}: raise it with `ulimit -n {needed}`, or use fewer connections with -c"
        );
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(needed), ..limit })
        .with_context(|| format!("cannot raise the limit on open files to {needed}"))
}
