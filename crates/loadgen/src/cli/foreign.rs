//! Options of other load generators. Those with the same meaning are aliases (see `Args`); the others are answered with the right option.

use anyhow::{Result, bail};
use clap::Args as Options;

/// Options whose meaning differs between wrk, wrk2, hey and oha, or that have no counterpart.
#[derive(Debug, Options)]
pub struct Foreign {
    /// A rate of hey and oha.
    #[arg(short = 'q', hide = true, value_name = "RATE")]
    queries: Option<String>,
    /// A Lua script of wrk.
    #[arg(short = 's', hide = true, value_name = "FILE")]
    script: Option<String>,
    /// The Content-Type of hey and oha, and the timeout of wrk.
    #[arg(short = 'T', hide = true, value_name = "VALUE")]
    content_type_or_timeout: Option<String>,
    /// The table of percentiles of wrk and wrk2.
    #[arg(short = 'L', long, hide = true)]
    latency: bool,
}

impl Foreign {
    /// Fails if an option was used that can't be translated, and names the option to use. Percentiles are always reported, so `--latency`
    /// is accepted.
    pub(super) fn check(&self) -> Result<()> {
        if let Some(rate) = &self.queries {
            bail!("-q limits each worker in hey and all of them in oha; hint: set the rate of all connections with --rate {rate}");
        }
        if let Some(script) = &self.script {
            bail!("cannot run the Lua script `{script}`; hint: use -X, -H and --body for one request, or --mix FILE for several");
        }
        if let Some(value) = &self.content_type_or_timeout {
            bail!(
                "-T is the timeout in wrk and the Content-Type in hey and oha; hint: use --timeout {value} or -H 'Content-Type: {value}'"
            );
        }
        Ok(())
    }
}
