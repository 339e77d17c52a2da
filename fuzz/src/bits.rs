//! A fuzzer of the bit reader and writer: reads numbers in all wire forms, and writes them again.
//!
//! *Invariant:* each number that is read is written again as the same bits.

use repl::{BitReader, BitWriter, ReadError};

/// Reads a number in one of the forms. Returns the number written again.
fn read(form: u8, reader: &mut BitReader<'_>) -> Result<BitWriter, ReadError> {
    let (argument, mut writer) = (u32::from(form >> 3), BitWriter::new());
    match form & 7 {
        0 | 2 => writer.write_bits(reader.read_bits(argument * 2)?, argument * 2),
        1 => writer.write_flag(reader.read_flag()?),
        3 => writer.write_exp_golomb(reader.read_exp_golomb(argument)?, argument),
        4 => {
            let bound = u64::from(argument) * 0x0101_0101 + 1;
            let number = reader.read_below(bound)?;
            assert!(number < bound);
            writer.write_below(number, bound);
        }
        5 => {
            let mut inner = reader.take(argument as usize)?.reader();
            assert_eq!(inner.remaining(), argument as usize);
            writer.write_bits(inner.read_bits(argument)?, argument);
            assert_eq!(inner.read_flag(), Err(ReadError::End));
        }
        6 => {
            let number = reader.clone().read_bits(argument)?;
            reader.skip_bits(argument as usize)?;
            writer.write_bits(number, argument);
        }
        _ => {
            let number = reader.clone().read_bits(1)?;
            let slice = reader.slice(reader.position()..reader.position() + 1).expect("a bit is left");
            assert_eq!(slice.reader().read_bits(1), Ok(number));
            reader.skip_bits(1)?;
            writer.write_bits(number, 1);
        }
    }
    Ok(writer)
}

/// Runs an input. The first byte of the input is the number of forms. Then come the forms, and then the bits.
/// Returns how many forms were read.
pub fn run(data: &[u8]) -> usize {
    let Some((&count, rest)) = data.split_first() else { return 0 };
    let (forms, bytes) = rest.split_at(usize::from(count).min(rest.len()));
    let mut reader = BitReader::new(bytes);
    let bits = reader.remaining();
    for (done, &form) in forms.iter().enumerate() {
        let mut before = reader.clone();
        let result = read(form, &mut reader);
        assert_eq!(reader.position() + reader.remaining(), bits);
        let Ok(writer) = result else { return done };
        let len = reader.position() - before.position();
        assert_eq!(writer.bit_len(), len, "{form} is written in as many bits");
        let written = writer.into_bytes();
        let mut written = BitReader::new(&written);
        for _ in 0..len {
            assert_eq!(written.read_flag(), before.read_flag(), "{form} is written in the same bits");
        }
    }
    forms.len()
}
