//! Replays the fuzzing corpus and many mutations of it: a short version of `cargo fuzz run response`.

#[path = "../../../../fuzz/check.rs"]
mod check;

use loadgen::random::Random;

const CHANGES_OF_EACH: u32 = 300;

fn corpus() -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/response");
    let entries = std::fs::read_dir(folder).expect("the corpus is committed");
    entries.map(|entry| std::fs::read(entry.expect("the folder is readable").path()).expect("the file is readable")).collect()
}

#[test]
fn the_corpus_finds_no_bugs() {
    let corpus = corpus();
    assert!(corpus.len() >= 30, "{} inputs", corpus.len());
    corpus.iter().for_each(|input| check::response(input));
}

#[test]
fn mutations_of_the_corpus_find_no_bugs() {
    let mut random = Random::new(4);
    let corpus = corpus();
    for input in &corpus {
        for _ in 0..CHANGES_OF_EACH {
            let mut changed = input.clone();
            for _ in 0..1 + random.next_u64() % 4 {
                change(&mut changed, &corpus, &mut random);
            }
            check::response(&changed);
        }
    }
}

/// Overwrites, removes, duplicates or inserts a few bytes.
fn change(input: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut Random) {
    let mut below = |limit: usize| (random.next_u64() % limit.max(1) as u64) as usize;
    let (start, length) = (below(input.len()), 1 + below(16));
    let end = (start + length).min(input.len());
    match below(4) {
        0 if start < end => input[start] = below(256) as u8,
        1 => drop(input.drain(start..end)),
        2 => {
            let piece = input[start..end].to_vec();
            input.splice(start..start, piece);
        }
        _ => {
            let other = &corpus[below(corpus.len())];
            let from = below(other.len());
            input.splice(start..start, other[from..(from + length).min(other.len())].iter().copied());
        }
    }
}
