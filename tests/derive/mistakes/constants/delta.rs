mod in_an_element {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        pages: Vec<Page>,
    }

    #[derive(Replicated, Clone, Default)]
    struct Page {
        #[replicated(delta)]
        text: String,
    }
}

mod of_no_length {
    use repl::Replicated;

    const LENGTH: u32 = 0;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(delta, max_len = LENGTH)]
        text: String,
    }
}

mod without_a_name {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(delta = lines)]
        lines: String,
    }

    mod lines {
        use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

        pub type State = String;

        pub fn write(_: &String, _: &String, _: &mut BitWriter) -> Result<(), WriteError> {
            Ok(())
        }

        pub fn read(
            base: &String,
            _: &mut BitReader<'_>,
            _: &mut ReferenceMap<'_>,
        ) -> Result<String, ReadError> {
            Ok(base.clone())
        }
    }
}

fn main() {}
