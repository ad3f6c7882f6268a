//! Decodes arbitrary bytes into a script that determines what the client sends and how the server behaves.
//!
//! Each of the first nine bytes chooses properties of the client or the server. Missing bytes count as zero. The remaining bytes encode
//! steps. The low five bits of a step's first byte choose the kind of step, so ASCII letters can serve as mnemonics. The arguments of the
//! step follow. If the five bits are zero, the byte is skipped.

/// Maximum number of steps. Longer scripts find no additional faults.
const STEPS_MAX: usize = 40;
const RESPONSE_BODIES: [usize; 4] = [5, 20_000, 900_000, 4_000_000];
const REQUEST_BODIES: [usize; 4] = [0, 10_000, 300_000, 3_000_000];
/// Maximum total size of the request bodies in one connection's pipeline, in bytes.
const PIPELINE_BYTES_MAX: usize = 6_000_000;
const NUMBERS: [u32; 8] = [0, 1, 100, 16_384, 65_535, 1 << 24, (1 << 31) - 1, u32::MAX];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    pub http2: bool,
    pub tls: bool,
    pub unix: bool,
    pub connections: u32,
    pub pipeline: u16,
    pub reuse: Reuse,
    pub request_body: usize,
    pub pace: Pace,
    pub response_body: usize,
    pub expects_body: bool,
    pub framing: Framing,
    /// Whether the server ignores the steps on every second connection and behaves correctly there.
    pub second_is_good: bool,
    /// Whether the server sends HTTP/2 settings, acknowledgments and window updates as required.
    pub manners: bool,
    pub steps: Vec<Step>,
    /// The server's behavior after the steps.
    pub after: After,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    KeepAlive,
    /// `--no-keepalive`.
    Announced,
    /// `--requests-per-connection`.
    Requests(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    Closed,
    Thinking,
    Open,
    OpenWithDeadline,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Length,
    Chunked,
    UntilClose,
    LengthAndDate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    ServeWell,
    Repeat,
    /// Reads but writes nothing.
    Hold,
    Close,
}

/// The stream of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Connection,
    /// The oldest stream without a response.
    Waiting,
    /// The newest stream with a complete response.
    Responded,
    /// A stream that was never opened.
    Idle,
    /// A stream that only the server may open.
    Pushed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    AckSettings,
    WrongBody,
    Close,
    DelayMs(u8),
    EndReading,
    Pings(u16),
    /// Sends these bytes, encrypted if the connection uses TLS.
    Garbage(Vec<u8>),
    HalfClose,
    /// Sends this many interim responses.
    Interim(u8),
    PushPromise,
    ResetStream(Stream, u32),
    Data {
        stream: Stream,
        length: usize,
        end: bool,
    },
    /// Sends a response that is correct except for one byte.
    Mutated {
        at: u8,
        byte: u8,
    },
    /// Sends a header block in this many frames.
    Continuations(u8),
    Settings {
        id: u16,
        value: u32,
    },
    ReadSome(usize),
    ReadRequests(u8),
    /// Sends this many correct responses. If a response has begun, finishes it first.
    Correct(u8),
    /// Sends the next bytes of a correct response, up to this number.
    Piece(usize),
    Trailing(&'static [u8]),
    /// Sends an arbitrary part of a correct response. The bounds are in 255ths of its length.
    Part {
        from: u8,
        to: u8,
    },
    WindowUpdate(Stream, u32),
    WrongStatus,
    Reset,
    GoAway {
        last: u32,
        code: u32,
    },
    Frame {
        kind: u8,
        flags: u8,
        stream: Stream,
        payload: Vec<u8>,
    },
    CloseNotify,
    /// Sends these bytes unencrypted.
    Raw(Vec<u8>),
    /// Sends an unencrypted alert.
    Alert {
        level: u8,
        code: u8,
    },
    /// Sends the first bytes of an encrypted response, without the rest of its record.
    TruncatedRecord(u8),
    /// Sends an unencrypted record with an arbitrary length.
    Record {
        kind: u8,
        length: u8,
        payload: Vec<u8>,
    },
}

/// The unread rest of the input. Reading past its end returns zeros.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }

    /// Takes a byte that contains a length, and then up to 31 literal bytes.
    fn literal(&mut self) -> Vec<u8> {
        let length = usize::from(self.byte() & 31).min(self.0.len());
        self.0.split_off(..length).unwrap_or_default().to_vec()
    }

    fn number(&mut self) -> u32 {
        NUMBERS[usize::from(self.byte() & 7)]
    }

    fn stream(&mut self) -> Stream {
        match self.byte() & 7 {
            0 => Stream::Connection,
            1 => Stream::Responded,
            2 => Stream::Idle,
            3 => Stream::Pushed,
            _ => Stream::Waiting,
        }
    }

    fn step(&mut self) -> Option<Step> {
        Some(match self.byte() & 31 {
            0 => return None,
            1 => Step::AckSettings,                                                                       // A
            2 => Step::WrongBody,                                                                         // B
            3 => Step::Close,                                                                             // C
            4 => Step::DelayMs(self.byte() & 31),                                                         // D
            5 => Step::EndReading,                                                                        // E
            6 => Step::Pings(u16::from(self.byte()) * 8),                                                 // F
            7 => Step::Garbage(self.literal()),                                                           // G
            8 => Step::HalfClose,                                                                         // H
            9 => Step::Interim(self.byte() & 31),                                                         // I
            10 => Step::PushPromise,                                                                      // J
            11 => Step::ResetStream(self.stream(), u32::from(self.byte() & 15)),                          // K
            12 => Step::Data { stream: self.stream(), length: self.length(), end: self.byte() & 1 == 1 }, // L
            13 => Step::Mutated { at: self.byte(), byte: self.byte() },                                   // M
            14 => Step::Continuations(self.byte()),                                                       // N
            15 => Step::Settings { id: u16::from(self.byte() & 15), value: self.number() },               // O
            16 => Step::ReadSome(self.length()),                                                          // P
            17 => Step::ReadRequests(1 + (self.byte() & 7)),                                              // Q
            18 => Step::Correct(1 + (self.byte() & 3)),                                                   // R
            19 => Step::Piece(self.length()),                                                             // S
            20 => Step::Trailing([&b"\r\n"[..], b"0\r\n\r\n", b"\0", b"HTTP/1.1 "][usize::from(self.byte() & 3)]), // T
            21 => Step::Part { from: self.byte(), to: self.byte() },                                      // U
            22 => Step::WindowUpdate(self.stream(), self.number()),                                       // V
            23 => Step::WrongStatus,                                                                      // W
            24 => Step::Reset,                                                                            // X
            25 => Step::GoAway { last: self.number(), code: u32::from(self.byte() & 15) },                // Y
            26 => Step::Frame { kind: self.byte() & 15, flags: self.byte(), stream: self.stream(), payload: self.literal() }, // Z
            27 => Step::CloseNotify,                                                                      // [
            28 => Step::Raw(self.literal()),                                                              // \
            29 => Step::Alert { level: self.byte() & 3, code: self.byte() },                              // ]
            30 => Step::TruncatedRecord(self.byte()),                                                     // ^
            _ => Step::Record { kind: 20 + (self.byte() & 7), length: self.byte(), payload: self.literal() }, // _
        })
    }

    /// Decodes a length from one byte. Values below 128 are the length in bytes; larger values encode the length in pages of 4096 bytes.
    fn length(&mut self) -> usize {
        let byte = usize::from(self.byte());
        if byte < 128 { byte } else { (byte - 127) * 4096 }
    }
}

impl Script {
    pub fn read(bytes: &[u8]) -> Self {
        let mut input = Input(bytes);
        let [place, connections, pipeline, reuse, request, pace, response, framing, after] = [(); 9].map(|()| input.byte());
        let http2 = place & 1 == 1;
        let request_body = REQUEST_BODIES[usize::from(request & 3)];
        let pipeline = (u16::from(pipeline & 7) + 1).min((PIPELINE_BYTES_MAX / request_body.max(1)).min(8) as u16);
        let mut steps = Vec::new();
        while !input.0.is_empty() && steps.len() < STEPS_MAX {
            steps.extend(input.step());
        }
        Self {
            http2,
            tls: place & 2 == 2,
            unix: place & 4 == 4,
            connections: u32::from(connections & 3) + 1,
            second_is_good: connections & 4 == 4,
            pipeline: if reuse & 3 == 1 && !http2 { 1 } else { pipeline },
            reuse: match reuse & 3 {
                1 if !http2 => Reuse::Announced,
                2 => Reuse::Requests(1),
                3 => Reuse::Requests(3),
                _ => Reuse::KeepAlive,
            },
            request_body,
            pace: [Pace::Closed, Pace::Thinking, Pace::Open, Pace::OpenWithDeadline][usize::from(pace & 3)],
            response_body: RESPONSE_BODIES[usize::from(response & 3)],
            expects_body: response & 4 == 4,
            framing: [Framing::Length, Framing::Chunked, Framing::UntilClose, Framing::LengthAndDate][usize::from(framing & 3)],
            manners: after & 4 == 0,
            after: [After::ServeWell, After::Repeat, After::Hold, After::Close][usize::from(after & 3)],
            steps,
        }
    }

    /// Returns whether the server behaves correctly.
    pub fn is_good(&self) -> bool {
        let responds_to_all = self.http2 || self.framing != Framing::UntilClose || self.pipeline == 1;
        self.steps.is_empty() && self.after == After::ServeWell && self.manners && responds_to_all
    }
}
