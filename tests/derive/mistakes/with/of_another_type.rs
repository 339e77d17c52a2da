use repl::Replicated;

#[derive(Replicated, Default)]
struct Player {
    #[replicated(with = heading)]
    heading: f64,
}

mod heading {
    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    pub const NAME: &str = "heading";

    pub fn write(heading: &f32, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_bits(u64::from(heading.to_bits()), 32);
        Ok(())
    }

    pub fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<f32, ReadError> {
        Ok(f32::from_bits(reader.read_bits(32)? as u32))
    }
}

fn main() {}
