mod no_name {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(with = heading)]
        heading: f32,
    }

    mod heading {
        use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

        pub fn write(heading: &f32, writer: &mut BitWriter) -> Result<(), WriteError> {
            writer.write_bits(u64::from(heading.to_bits()), 32);
            Ok(())
        }

        pub fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<f32, ReadError> {
            Ok(f32::from_bits(reader.read_bits(32)? as u32))
        }
    }
}

fn main() {}
