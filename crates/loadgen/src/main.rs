//! Parses the command line, runs the load and reports the result.
//!
//! The exit code is 0 on success, 1 if the run failed, 2 after a usage error, 3 if a gate was breached, and 130 if the run was interrupted.

use std::process::ExitCode;

use anyhow::{Context, Error, Result};
use clap::{CommandFactory, Parser};
use loadgen::cli::Args;
use loadgen::figures::result::{self, RunResult};
use loadgen::output::destinations::{Destinations, write_stdout};
use loadgen::output::progress::{Goal, ProgressOutput};
use loadgen::output::stderr;
use loadgen::run::first_response::first_response;
use loadgen::run::plan::Plan;
use loadgen::run::{self, open_files, signal};

fn main() -> ExitCode {
    let args = Args::parse();
    if let Some(shell) = args.completions {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Args::command(), "httpbench-loadgen", &mut script);
        return print(&script);
    }
    if args.json_schema {
        return print(format!("{}\n", result::json_schema()).as_bytes());
    }
    let prepared = args.plan().and_then(|plan| Ok((plan, Destinations::open(args.json.as_deref(), args.hdr.as_deref())?)));
    let (plan, destinations) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return complain(&error, 2),
    };
    if args.first_response {
        return match first_response(&plan).and_then(|found| Ok(serde_json::to_string(&found)?)) {
            Ok(text) => print(format!("{text}\n").as_bytes()),
            Err(error) => complain(&error, 1),
        };
    }
    match measure(&args, &plan) {
        Ok(result) => conclude(&args, &result, &destinations.write(&result)),
        Err(_) if signal::caught() => ExitCode::from(130),
        Err(error) => complain(&error, 1),
    }
}

fn measure(args: &Args, plan: &Plan) -> Result<RunResult> {
    signal::install().context("cannot listen for signals")?;
    open_files::ensure_room(plan.connections)?;
    let goal = match plan.requests_total {
        Some(total) => Goal::Requests { total },
        None => Goal::Duration { seconds: plan.duration.as_secs_f64() },
    };
    run::run(plan, &mut ProgressOutput::new(args.progress, goal, if plan.sse { "events/s" } else { "requests/s" }))
}

/// Prints errors and breached gates, and returns the exit code. Must be called after the result has been written, because a write to stderr
/// may block or fail if nobody reads it.
fn conclude(args: &Args, result: &RunResult, unwritten: &[Error]) -> ExitCode {
    // Check gates only after a complete run. A run that ended early already has a nonzero exit code.
    let complete = result.failure.is_none() && !result.interrupted;
    let breaches = if complete { args.gates().breaches(result) } else { Vec::new() };
    for error in unwritten {
        complain(error, 1);
    }
    if let Some(failure) = &result.failure {
        stderr::insist(&format!("error: {failure}"));
    }
    for breach in &breaches {
        stderr::insist(&format!("gate breached: {breach}"));
    }
    ExitCode::from(match () {
        () if result.failure.is_some() || !unwritten.is_empty() => 1,
        () if result.interrupted => 130,
        () if !breaches.is_empty() => 3,
        () => 0,
    })
}

fn complain(error: &Error, code: u8) -> ExitCode {
    stderr::insist(&format!("error: {error:#}"));
    ExitCode::from(code)
}

fn print(text: &[u8]) -> ExitCode {
    match write_stdout(|out| out.write_all(text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error, 1),
    }
}
