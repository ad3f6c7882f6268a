//! Tests with arbitrary frames that are split at arbitrary positions.

use proptest::prelude::*;

use super::*;

/// Generates a frame of any type, usually on an open stream.
fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let stream = prop_oneof![8 => (0..8u32).prop_map(|number| 2 * number + 1), 1 => 0..20u32];
    let block = prop::sample::select(vec![
        OK.to_vec(),
        NOT_FOUND.to_vec(),
        response(&[("content-length", "5")]),
        vec![0x88, 0x40, 1, b'x', 1, b'y'],
    ]);
    let headers =
        (stream.clone(), block, 0..2u8).prop_map(|(id, block, end)| bytes_of(frame::HEADERS, frame::END_HEADERS | end, id, &block));
    let data = (stream.clone(), prop::sample::select(vec![&b"hello"[..], b"he", b"llo", b""]), 0..2u8)
        .prop_map(|(id, data, end)| bytes_of(frame::DATA, end, id, data));
    let ping = Just(bytes_of(frame::PING, 0, 0, b"pingpong"));
    let window =
        (prop_oneof![Just(0), stream.clone()], 0..70_000u32).prop_map(|(id, by)| bytes_of(frame::WINDOW_UPDATE, 0, id, &by.to_be_bytes()));
    let any = (0..11u8, any::<u8>(), stream, prop::collection::vec(any::<u8>(), 0..12))
        .prop_map(|(kind, flags, id, payload)| bytes_of(kind, flags, id, &payload));
    prop_oneof![8 => headers, 8 => data, 1 => ping, 1 => window, 1 => any]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn splitting_does_not_change_the_result(
        frames in prop::collection::vec(any_frame(), 1..30),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let bytes = [bytes_of(frame::SETTINGS, 0, 0, b""), frames.concat()].concat();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.index(bytes.len())).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let run = |cuts: &[usize]| {
            let mut client = Client::new(vec![kind("GET", b"", Some(b"hello")), kind("POST", b"body", Some(b"hello"))]);
            client.request(0..6);
            client.take_output();
            let mut flow = Ok(Flow::Open);
            for cut in cuts.windows(2) {
                flow = client.receive_bytes(&bytes[cut[0]..cut[1]]);
                if flow.is_err() {
                    break;
                }
            }
            let streams = client.session.streams.open();
            (flow, client.take_outcomes(), client.take_output(), streams)
        };
        let whole = run(&[0, bytes.len()]);
        prop_assert_eq!(&run(&cuts), &whole);
        prop_assert_eq!(&run(&(0..=bytes.len()).collect::<Vec<_>>()), &whole);
        let mut slots: Vec<_> = whole.1.iter().map(|(slot, _)| *slot).collect();
        slots.sort_unstable();
        slots.dedup();
        prop_assert_eq!(slots.len(), whole.1.len(), "no request ends twice");
        prop_assert_eq!(slots.len() + whole.3, 6, "each request has ended, or is in flight");
    }
}
