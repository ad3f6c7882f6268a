//! Encodes the header fields of requests. When a field is sent for the first time on a connection, the encoder adds it to the server's
//! dynamic table. From then on, the field is sent as an index, usually of one byte.
//!
//! No field is ever evicted from the table. Fields that don't fit are sent as literals each time. The index of a field in the table
//! therefore depends only on the number of fields that were added after it.

use super::{ENTRY_BYTES, STATIC, TABLE_BYTES_DEFAULT, write_number};

/// The name and the value of a header field.
type Plain = (Vec<u8>, Vec<u8>);

/// The distinct header fields of all kinds of requests.
#[derive(Debug)]
pub struct Fields {
    distinct: Vec<Field>,
    /// For each kind of request, the indices of its fields in `distinct`.
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
        let mut fields = Self { distinct: Vec::new(), kinds: Vec::new() };
        for kind in kinds {
            let places = kind.into_iter().map(|plain| fields.place(plain)).collect();
            fields.kinds.push(places);
        }
        fields
    }

    fn place(&mut self, plain: Plain) -> u32 {
        let known = self.distinct.iter().position(|field| field.plain == plain);
        known.unwrap_or_else(|| {
            self.distinct.push(Field::new(plain));
            self.distinct.len() - 1
        }) as u32
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
    /// The insertion number of each distinct field: 1 for the oldest entry in the table, 2 for the next one, and 0 for fields that aren't
    /// in the table.
    numbers: Box<[u32]>,
    inserted: u32,
    bytes: usize,
    bytes_max: usize,
    /// Whether the server has changed its limit on the table size. If so, the next block first empties the table and sets its new size.
    changed: bool,
}

impl Encoder {
    pub fn new(fields: &Fields) -> Self {
        let numbers = vec![0; fields.distinct.len()].into();
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

    /// Appends the header block of a request of the given kind to `out`.
    #[inline]
    pub fn encode(&mut self, fields: &Fields, kind: usize, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.changed) {
            write_number(out, 0x20, 5, 0);
            write_number(out, 0x20, 5, self.bytes_max);
        }
        for &place in &fields.kinds[kind] {
            let field = &fields.distinct[place as usize];
            let number = self.numbers[place as usize];
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
        if bytes > self.bytes_max {
            field.write_literal(0, 4, out);
            return;
        }
        field.write_literal(0x40, 6, out);
        (self.bytes, self.inserted) = (bytes, self.inserted + 1);
        self.numbers[place] = self.inserted;
    }
}
