mod atomic_without_a_form {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(atomic)]
        weapon: Weapon,
    }

    #[derive(Clone, Default)]
    struct Weapon;
}

mod of_another_type {
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
}

mod without_clone {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(with = opened)]
        opened: Opened,
    }

    #[derive(Default)]
    struct Opened;

    mod opened {
        use super::Opened;
        use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

        pub const NAME: &str = "opened";

        pub fn write(_: &Opened, _: &mut BitWriter) -> Result<(), WriteError> {
            Ok(())
        }

        pub fn read(_: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Opened, ReadError> {
            Ok(Opened)
        }
    }
}

mod wrong_parameters {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(with = heading)]
        heading: Option<f32>,
    }

    mod heading {
        use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

        pub const NAME: &str = "heading";

        pub fn write(heading: f32, writer: &mut BitWriter) -> Result<(), WriteError> {
            writer.write_bits(heading.to_bits().into(), 32);
            Ok(())
        }

        pub fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<f32, ReadError> {
            Ok(f32::from_bits(reader.read_bits(32)? as u32))
        }
    }
}

fn main() {}
