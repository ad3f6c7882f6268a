//! The limit on open files, checked before a run that would break it.

use std::io;

use anyhow::{Result, bail};

/// Files beside the connections: the engine, epoll or io_uring, standard streams, the result.
const OTHER_FILES: u64 = 64;

/// Makes room for `connections` sockets: raises the soft limit where the hard one allows.
pub fn ensure_room(connections: u32) -> Result<()> {
    let needed = u64::from(connections) + OTHER_FILES;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid for the call.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        bail!("cannot read the limit on open files: {}", io::Error::last_os_error());
    }
    if limit.rlim_cur >= needed {
        return Ok(());
    }
    let hard = limit.rlim_max;
    if hard < needed {
        bail!(
            "{connections} connections need {needed} open files, but the limit is {hard}: raise it with `ulimit -n {needed}`, or use fewer connections with -c"
        );
    }
    limit.rlim_cur = needed;
    // SAFETY: as above.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } != 0 {
        bail!("cannot raise the limit on open files to {needed}: {}", io::Error::last_os_error());
    }
    Ok(())
}
