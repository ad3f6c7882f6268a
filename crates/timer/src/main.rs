//! Runs a program and reports its time and memory: `httpbench-timer REPORT OUTPUT PROGRAM [ARGUMENT]…`. Or reports the time at which it
//! becomes a program: `httpbench-timer --exec DESCRIPTOR PROGRAM [ARGUMENT]…`
//!
//! The wall time is measured from just before the fork until the child has been reaped.
//!
//! This is a separate program because the kernel's figures for a child process include the time between fork and exec. The peak memory
//! (`ru_maxrss`, which exec doesn't reset) includes the pages of the parent that the child was forked from, and the CPU time includes
//! everything before exec. If the parent were a Python interpreter, this overhead would be 10 MB and a millisecond. With this program as
//! the parent, the CPU time is about ten microseconds, and the report contains the memory overhead as a floor. To keep the floor low, this
//! program is small and depends only on libc.
//!
//! The standard output of PROGRAM goes to the file OUTPUT. The file REPORT gets a JSON object with `code` (negative for a signal),
//! `wall_s`, `user_s`, `system_s`, `rss_bytes_peak` and `rss_bytes_floor`. If the peak equals the floor, the memory of PROGRAM itself is
//! unknown. If PROGRAM could be run, `httpbench-timer` exits with 0, regardless of PROGRAM's own exit code. Otherwise, it exits with 127.
//!
//! With `--exec`, the process writes a line with the time to DESCRIPTOR, in nanoseconds of the monotonic clock, and executes PROGRAM. The
//! descriptor is closed when PROGRAM runs. If PROGRAM can't be executed, the descriptor gets a second line with the reason. An interpreter
//! could do the same, but the kernel would then need about 0.3 ms to remove the interpreter's memory, which is part of the time of exec.

use std::ffi::{CString, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;
use std::time::Instant;

const CANNOT_RUN: u8 = 127;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    if words.len() == 1 && words[0] == "--version" {
        println!("httpbench-timer {}", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    if let [option, descriptor, program @ ..] = &words[..]
        && option == "--exec"
    {
        let descriptor = descriptor.to_str().and_then(|text| text.parse().ok());
        let (Some(descriptor), Some(argv)) = (descriptor, arguments(program)) else { return usage() };
        return become_reporting(&argv, descriptor);
    }
    let [report, output, program @ ..] = &words[..] else { return usage() };
    let Some(argv) = arguments(program) else { return usage() };
    match File::create(output).and_then(|output| run(&argv, &output)).and_then(|text| fs::write(report, text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: cannot run {:?}: {error}", argv[0]); // {:?} escapes control characters
            ExitCode::from(CANNOT_RUN)
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: httpbench-timer REPORT OUTPUT PROGRAM [ARGUMENT]...");
    eprintln!("       httpbench-timer --exec DESCRIPTOR PROGRAM [ARGUMENT]...");
    ExitCode::from(2)
}

fn arguments(words: &[OsString]) -> Option<Vec<CString>> {
    let argv: Option<Vec<_>> = words.iter().map(|word| CString::new(word.as_bytes()).ok()).collect();
    argv.filter(|argv| !argv.is_empty())
}

fn pointers_to(argv: &[CString]) -> Vec<*const libc::c_char> {
    argv.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect()
}

/// Writes the time to the descriptor and executes the program in this process. Returns only if that fails.
fn become_reporting(argv: &[CString], descriptor: RawFd) -> ExitCode {
    let pointers = pointers_to(argv);
    // SAFETY: these calls take no pointers. Rust ignores SIGPIPE, which the program would inherit.
    unsafe {
        libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
    tell(descriptor, &now_ns().to_string());
    // SAFETY: the arguments end with a null pointer and outlive the call.
    unsafe { libc::execvp(pointers[0], pointers.as_ptr()) };
    let error = io::Error::last_os_error().to_string();
    tell(descriptor, error.split(" (os error").next().unwrap_or_default());
    ExitCode::from(CANNOT_RUN)
}

/// Writes a line to a descriptor.
fn tell(descriptor: RawFd, line: &str) {
    let line = format!("{line}\n");
    // SAFETY: the pointer is valid for the length of the line. If nobody reads the line, nobody needs it.
    unsafe { libc::write(descriptor, line.as_ptr().cast(), line.len()) };
}

fn now_ns() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid during the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

fn run(argv: &[CString], output: &File) -> io::Result<String> {
    let pointers = pointers_to(argv);
    let mut error = [0; 2];
    // SAFETY: the array has room for two descriptors.
    check(unsafe { libc::pipe2(error.as_mut_ptr(), libc::O_CLOEXEC) })?;
    let floor = own_rss_peak()?;
    let begin = Instant::now();
    // SAFETY: there is only one thread, so the child may call any function.
    let pid = check(unsafe { libc::fork() })?;
    if pid == 0 {
        become_program(&pointers, output.as_raw_fd(), error[1]);
    }
    // SAFETY: nothing else uses the descriptor. Reading from the pipe ends once the child's copy is closed, too.
    unsafe { libc::close(error[1]) };
    let (mut status, mut used) = (0, zeroed());
    // SAFETY: both pointers are valid during the call.
    while unsafe { libc::wait4(pid, &mut status, 0, &mut used) } < 0 {
        let problem = io::Error::last_os_error();
        if problem.kind() != io::ErrorKind::Interrupted {
            return Err(problem);
        }
    }
    let wall_s = begin.elapsed().as_secs_f64();
    if let Some(problem) = failure_of(error[0]) {
        return Err(problem);
    }
    let code = if libc::WIFSIGNALED(status) { -libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) };
    Ok(format!(
        "{{\"code\": {code}, \"wall_s\": {wall_s:.9}, \"user_s\": {:.6}, \"system_s\": {:.6}, \"rss_bytes_peak\": {}, \"rss_bytes_floor\": {floor}}}\n",
        seconds(used.ru_utime),
        seconds(used.ru_stime),
        rss_peak(&used),
    ))
}

/// Runs in the child process and executes the measured program. The child is killed if the parent dies. If the program can't be executed,
/// the child reports this through the pipe.
fn become_program(argv: &[*const libc::c_char], output: i32, error: i32) -> ! {
    // SAFETY: the arguments end with a null pointer and outlive the call, and the written bytes are those of a local integer.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::dup2(output, libc::STDOUT_FILENO);
        libc::execvp(argv[0], argv.as_ptr());
        let number: i32 = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        libc::write(error, (&raw const number).cast(), size_of::<i32>());
        libc::_exit(i32::from(CANNOT_RUN))
    }
}

/// Returns why the child could not execute the program, or `None` if it could.
fn failure_of(pipe: i32) -> Option<io::Error> {
    let mut number = 0_i32;
    // SAFETY: the buffer has room for four bytes.
    let bytes = unsafe { libc::read(pipe, (&raw mut number).cast(), size_of::<i32>()) };
    (bytes == size_of::<i32>() as isize).then(|| io::Error::from_raw_os_error(number))
}

/// Returns the peak memory of this program. `getrusage` would include memory that this process used before it executed this program.
fn own_rss_peak() -> io::Result<i64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|text| text.split_whitespace().next()?.parse::<i64>().ok());
    kilobytes.map(|number| number * 1024).ok_or_else(|| io::Error::other("the kernel does not report the memory of this process"))
}

fn zeroed() -> libc::rusage {
    // SAFETY: all fields are numbers, for which zero is valid.
    unsafe { std::mem::zeroed() }
}

fn rss_peak(used: &libc::rusage) -> i64 {
    used.ru_maxrss * 1024
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
