//! Parse, run, report. Exit codes: 0 measured, 1 could not measure, 2 wrong usage, 3 a gate was breached, 130 interrupted.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{CommandFactory, Parser};
use loadgen::cli::Args;
use loadgen::output::progress::ProgressOutput;
use loadgen::output::{hdr, report};
use loadgen::result::RunResult;
use loadgen::{files, result, run, signal};

fn main() -> ExitCode {
    let args = Args::parse();
    if let Some(shell) = args.completions {
        clap_complete::generate(shell, &mut Args::command(), "httpbench-loadgen", &mut io::stdout());
        return ExitCode::SUCCESS;
    }
    if args.json_schema {
        println!("{}", result::json_schema());
        return ExitCode::SUCCESS;
    }
    let plan = match args.plan() {
        Ok(plan) => plan,
        Err(error) => return complain(&error, 2),
    };
    if let Err(error) = signal::install() {
        return complain(&error.into(), 1);
    }
    let mut progress = ProgressOutput::new(args.progress, plan.duration.as_secs_f64());
    let measured = files::ensure_room(plan.connections).and_then(|()| run::run(&plan, &mut progress));
    let result = measured.and_then(|result| write(&args, &result).map(|()| result));
    match result {
        _ if signal::caught() => ExitCode::from(130),
        Ok(RunResult { failure: Some(failure), .. }) => complain(&anyhow::Error::msg(failure), 1),
        Ok(result) => judge(&args, &result),
        Err(error) => complain(&error, 1),
    }
}

fn judge(args: &Args, result: &RunResult) -> ExitCode {
    let breaches = args.gates().breaches(result);
    for breach in &breaches {
        eprintln!("gate breached: {breach}");
    }
    if breaches.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(3) }
}

fn complain(error: &anyhow::Error, code: u8) -> ExitCode {
    eprintln!("error: {error:#}");
    ExitCode::from(code)
}

/// The JSON to where it was asked for; the report to stdout, unless that is where the JSON goes.
fn write(args: &Args, result: &RunResult) -> Result<()> {
    let json_to_stdout = args.json.as_deref() == Some(Path::new("-"));
    if let Some(path) = &args.json {
        let mut text = serde_json::to_string(result)?;
        text.push('\n');
        if json_to_stdout {
            io::stdout().write_all(text.as_bytes()).context("cannot write to stdout")?;
        } else {
            std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
        }
    }
    if let Some(path) = &args.hdr {
        write_hdr(path, result).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    if !json_to_stdout {
        report::print(result, &mut io::stdout().lock()).context("cannot write to stdout")?;
    }
    Ok(())
}

fn write_hdr(path: &Path, result: &RunResult) -> Result<()> {
    let histogram = result.response_time_us.as_ref().unwrap_or(&result.service_time_us).histogram()?;
    let mut file = io::BufWriter::new(File::create(path)?);
    hdr::write_percentiles(&histogram, &mut file)?;
    Ok(file.flush()?)
}
