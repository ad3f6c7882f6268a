//! Encodes the header fields of requests. When a field is sent for the first time on a connection, the encoder adds it to the server's
//! dynamic table. From then on, the field is sent as an index, usually of one byte.
//!
//! No field is ever evicted from the table. Fields that don't fit are sent as literals each time. The index of a field in the table
//! therefore depends only on the number of fields that were added after it. If there are many different fields, only those that several
//! requests have in common are added, so that connections don't have to keep track of all of them.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{ENTRY_BYTES, STATIC, TABLE_BYTES_DEFAULT, write_number};

/// Maximum number of fields that are added to the table. A table of the default size has room for about as many fields.
const INDEXED_MAX: usize = 64;

/// The name and the value of a header field.
type Plain = (Vec<u8>, Vec<u8>);

/// The distinct header fields of all requests.
#[derive(Debug)]
pub struct Fields {
    /// The fields, the most frequent ones first.
    distinct: Vec<Field>,
    /// Number of fields at the front of `distinct` that may be added to the table.
    indexed: usize,
    /// For each request, the indices of its fields in `distinct`.
    kinds: Vec<Vec<u32>>,
}

#[derive(Debug)]
struct Field {
    plain: Plain,
    /// The index of the name and value in the static table, or 0 if the table doesn't contain both.
    index: u8,
    /// The index of the name in the static table, or 0 if the table doesn't contain it.
    name_index: u8,
}

impl Fields {
    pub fn new(kinds: impl IntoIterator<Item = Vec<Plain>>) -> Self {
        let (mut distinct, mut counts, mut places) = (Vec::new(), Vec::new(), HashMap::new());
        let mut place = |plain: Plain| {
            let place = *places.entry(plain).or_insert_with_key(|plain| {
                distinct.push(Field::new(plain.clone()));
                counts.push(0u32);
                distinct.len() - 1
            });
            counts[place] += 1;
            place
        };
        let mut kinds: Vec<Vec<_>> = kinds.into_iter().map(|kind| kind.into_iter().map(|plain| place(plain) as u32).collect()).collect();
        let mut ordered: Vec<_> = distinct.into_iter().enumerate().collect();
        ordered.sort_by_key(|(place, _)| Reverse(counts[*place]));
        let mut moved = vec![0; ordered.len()];
        (0..).zip(&ordered).for_each(|(to, (from, _))| moved[*from] = to);
        kinds.iter_mut().flatten().for_each(|place| *place = moved[*place as usize]);
        let shared = counts.iter().filter(|count| **count > 1).count();
        let indexed = if counts.len() > INDEXED_MAX { shared.min(INDEXED_MAX) } else { counts.len() };
        Self { distinct: ordered.into_iter().map(|(_, field)| field).collect(), indexed, kinds }
    }
}

impl Field {
    fn new(plain: Plain) -> Self {
        let (name, value) = (&plain.0[..], &plain.1[..]);
        let find = |matches: &dyn Fn(&(&str, &str)) -> bool| STATIC.iter().position(matches).map_or(0, |at| at as u8 + 1);
        let index = find(&|(known, with)| known.as_bytes() == name && with.as_bytes() == value);
        let name_index = find(&|(known, _)| known.as_bytes() == name);
        Self { plain, index, name_index }
    }

    fn table_bytes(&self) -> usize {
        self.plain.0.len() + self.plain.1.len() + ENTRY_BYTES
    }

    fn write_literal(&self, pattern: u8, bits: u32, out: &mut Vec<u8>) {
        write_number(out, pattern, bits, usize::from(self.name_index));
        let (name, value) = &self.plain;
        if self.name_index == 0 {
            write_string(name, out);
        }
        write_string(value, out);
    }
}

fn write_string(text: &[u8], out: &mut Vec<u8>) {
    write_number(out, 0, 7, text.len());
    out.extend_from_slice(text);
}

/// An encoder for one connection. It keeps track of the server's dynamic table.
#[derive(Debug)]
pub struct Encoder {
    /// The insertion number of each field that may be added: 1 for the oldest entry in the table, 2 for the next one, and 0 for fields that
    /// aren't in the table.
    numbers: Box<[u32]>,
    inserted: u32,
    bytes: usize,
    bytes_max: usize,
    /// Whether the server has changed its limit on the table size. If so, the next block first empties the table and sets its new size.
    changed: bool,
}

impl Encoder {
    pub fn new(fields: &Fields) -> Self {
        let numbers = vec![0; fields.indexed].into();
        Self { numbers, inserted: 0, bytes: 0, bytes_max: TABLE_BYTES_DEFAULT as usize, changed: false }
    }

    /// Applies the server's limit on the table size. The encoder uses at most the default size.
    pub fn allow(&mut self, bytes: u32) {
        let bytes_max = bytes.min(TABLE_BYTES_DEFAULT) as usize;
        if bytes_max != self.bytes_max {
            (self.bytes_max, self.bytes, self.inserted, self.changed) = (bytes_max, 0, 0, true);
            self.numbers.fill(0);
        }
    }

    /// Appends the header block of the request with this index to `out`.
    #[inline]
    pub fn encode(&mut self, fields: &Fields, kind: usize, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.changed) {
            write_number(out, 0x20, 5, 0);
            write_number(out, 0x20, 5, self.bytes_max);
        }
        for &place in &fields.kinds[kind] {
            let field = &fields.distinct[place as usize];
            let number = self.numbers.get(place as usize).copied().unwrap_or(0);
            if field.index > 0 {
                out.push(0x80 | field.index);
            } else if number > 0 {
                write_number(out, 0x80, 7, STATIC.len() + 1 + (self.inserted - number) as usize);
            } else {
                self.encode_literal(field, place as usize, out);
            }
        }
    }

    fn encode_literal(&mut self, field: &Field, place: usize, out: &mut Vec<u8>) {
        let bytes = self.bytes + field.table_bytes();
        if bytes > self.bytes_max || place >= self.numbers.len() {
            field.write_literal(0, 4, out);
            return;
        }
        field.write_literal(0x40, 6, out);
        (self.bytes, self.inserted) = (bytes, self.inserted + 1);
        self.numbers[place] = self.inserted;
    }
}
