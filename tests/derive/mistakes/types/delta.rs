mod of_a_number {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(delta)]
        value: u32,
    }
}

mod of_a_state_that_is_not_the_value {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(delta = lines)]
        lines: String,
    }

    mod lines {
        use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

        pub const NAME: &str = "lines";
        pub type State = usize;

        pub fn write(_: &usize, _: &String, _: &mut BitWriter) -> Result<(), WriteError> {
            Ok(())
        }

        pub fn read(
            _: &usize,
            _: &mut BitReader<'_>,
            _: &mut ReferenceMap<'_>,
        ) -> Result<String, ReadError> {
            Ok(String::new())
        }
    }
}

mod of_a_comparison_that_does_not_fit {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(delta = lines)]
        lines: String,
    }

    mod lines {
        use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

        pub const NAME: &str = "lines";
        pub type State = String;

        pub fn is_same(_: &str, _: &String) -> bool {
            true
        }

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

mod of_another_type {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(delta = lines)]
        lines: Vec<u8>,
    }

    mod lines {
        use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

        pub const NAME: &str = "lines";
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

mod of_a_limited_number {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(delta, max_len = 7)]
        value: u32,
    }
}

mod of_elements_without_a_form {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(delta)]
        opened: Vec<Opened>,
    }

    #[derive(Clone, Default)]
    struct Opened;
}

fn main() {}
