mod too_many_handles {
    use repl::Replicated;

    #[derive(Replicated)]
    struct Terrain {
        #[replicated]
        heights: [u16; 65_536],
    }

    impl Default for Terrain {
        fn default() -> Self {
            Self { heights: [0; 65_536] }
        }
    }

    fn used() {
        Terrain::program();
    }
}

fn main() {}
