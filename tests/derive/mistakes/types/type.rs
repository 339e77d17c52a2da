mod atomic_map_with_a_float_key {
    use std::collections::HashMap;

    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated(atomic)]
        heights: HashMap<f32, u8>,
    }
}

mod atomic_number {
    use std::sync::atomic::AtomicU32;

    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        hits: AtomicU32,
    }
}

mod callbacks_not_said {
    use repl::{Callbacks, Replicated};

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        health: u16,
    }

    impl Callbacks for Player {}
}

mod callbacks_not_written {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    #[replicated(callbacks)]
    struct Player {
        #[replicated]
        health: u16,
    }
}

mod field_is_not_send {
    use std::rc::Rc;

    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        health: u8,
        icon: Rc<u8>,
    }
}

mod field_is_not_sync {
    use std::cell::Cell;

    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        health: u16,
        hits: Cell<u32>,
    }

    fn used() {
        let _ = Player::default().hits;
    }
}

mod float_element_of_a_set {
    use std::collections::BTreeSet;

    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        heights: Vec<BTreeSet<(u8, f32)>>,
    }
}

mod float_key {
    use std::collections::HashMap;

    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        heights: HashMap<f32, u8>,
    }
}

mod float_key_of_a_sorted_map {
    use std::collections::BTreeMap;

    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        heights: BTreeMap<f32, u8>,
    }
}

mod glam_of_another_version {
    use repl::prelude::*;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        position: glam::Vec3,
    }
}

mod index_map_by_its_path {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        scores: indexmap::IndexMap<u8, u32>,
    }
}

mod index_map_in_an_option {
    use indexmap::IndexMap;
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        scores: Option<IndexMap<u8, u32>>,
    }
}

mod index_map_in_a_map {
    use std::collections::BTreeMap;

    use indexmap::IndexMap;
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        scores: BTreeMap<u8, IndexMap<u8, u32>>,
    }
}

mod index_set {
    use indexmap::IndexSet;
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        visited: IndexSet<u8>,
    }
}

mod index_set_in_a_vec {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        visited: Vec<indexmap::IndexSet<u8>>,
    }
}

mod instant {
    use std::time::Instant;

    use repl::Replicated;

    #[derive(Replicated)]
    struct Player {
        #[replicated]
        spawned: Instant,
    }

    impl Default for Player {
        fn default() -> Self {
            Self { spawned: Instant::now() }
        }
    }
}

mod map_key {
    use std::collections::HashMap;
    use std::time::Instant;

    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        scores: HashMap<Instant, u32>,
    }
}

mod map_value {
    use std::collections::BTreeMap;
    use std::time::Instant;

    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        seen: BTreeMap<u32, Instant>,
    }
}

mod mutex {
    use std::sync::Mutex;

    use repl::Replicated;

    #[derive(Replicated)]
    struct Player {
        #[replicated]
        field: Mutex<u8>,
    }

    impl Default for Player {
        fn default() -> Self {
            Self { field: Mutex::new(0) }
        }
    }
}

mod no_default {
    use repl::Replicated;

    #[derive(Replicated)]
    struct Player {
        #[replicated]
        health: u16,
    }
}

mod own_struct {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        weapon: Weapon,
    }

    #[derive(Default)]
    struct Weapon {
        ammo: u16,
    }
}

mod parameter_that_cannot_travel {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Holder<T> {
        #[replicated]
        value: Vec<T>,
    }

    fn is_replicated<T: Replicated>() {}

    fn used() {
        is_replicated::<Holder<u8>>();
        is_replicated::<Holder<std::time::Instant>>();
    }
}

mod path {
    use std::path::PathBuf;

    use repl::Replicated;

    #[derive(Replicated)]
    struct Player {
        #[replicated]
        field: PathBuf,
    }

    impl Default for Player {
        fn default() -> Self {
            Self { field: PathBuf::new() }
        }
    }
}

mod pointer {
    use repl::Replicated;

    #[derive(Replicated)]
    struct Player {
        #[replicated]
        health: u8,
        mesh: *mut u8,
    }

    impl Default for Player {
        fn default() -> Self {
            Self { health: 0, mesh: std::ptr::null_mut() }
        }
    }
}

mod pointer_that_is_replicated {
    use std::rc::Rc;

    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        target: Option<Rc<u8>>,
    }
}

mod shared {
    use std::sync::Arc;

    use repl::Replicated;

    #[derive(Replicated)]
    struct Player {
        #[replicated]
        field: Arc<Vec<u8>>,
    }

    impl Default for Player {
        fn default() -> Self {
            Self { field: Arc::default() }
        }
    }
}

mod slice {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        scores: &'static [u8],
    }
}

mod static_text {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        name: &'static str,
    }
}

mod system_time {
    use std::time::SystemTime;

    use repl::Replicated;

    #[derive(Replicated)]
    struct Player {
        #[replicated]
        field: SystemTime,
    }

    impl Default for Player {
        fn default() -> Self {
            Self { field: SystemTime::UNIX_EPOCH }
        }
    }
}

mod trait_object {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        health: u8,
        on_death: Option<Box<dyn Fn()>>,
    }
}

mod vec_of_own_struct {
    use repl::Replicated;

    #[derive(Replicated, Default)]
    struct Player {
        #[replicated]
        weapons: Vec<Weapon>,
    }

    struct Weapon {
        ammo: u16,
    }
}

fn main() {}
