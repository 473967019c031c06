;; A hook that searches the payload for some patterns, byte by byte.
(module
  (memory (export "memory") 3)
  (global $next (mut i32) (i32.const 65536))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
    (global.set $next (i32.add (local.get $at) (local.get 3)))
    (local.get $at))
  {data}
  (func $search (param $text i32) (param $length i32) (param $pattern i32) (param $size i32) (result i32)
    (local $i i32) (local $j i32)
    (loop $next_start
      (if (i32.le_u (i32.add (local.get $i) (local.get $size)) (local.get $length))
        (then
          (local.set $j (i32.const 0))
          (loop $compare
            (if (i32.eq (local.get $j) (local.get $size)) (then (return (i32.const 1))))
            (if (i32.eq
                  (i32.load8_u (i32.add (i32.add (local.get $text) (local.get $i)) (local.get $j)))
                  (i32.load8_u (i32.add (local.get $pattern) (local.get $j))))
              (then
                (local.set $j (i32.add (local.get $j) (i32.const 1)))
                (br $compare))))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br $next_start))))
    (i32.const 0))
  (func (export "hookbox:hook/handler@1.1.0#handle")
    (param $name i32) (param $name_len i32) (param $payload i32) (param $payload_len i32)
    (param $id i32) (param $id_len i32) (param $has_subject i32) (param $subject i32)
    (param $subject_len i32) (param $hook i32) (param $hook_len i32) (param $depth i32)
    (result i32)
    {search}
    (if
      (then
        (i32.store8 (i32.const 1028) (i32.const 1))
        (i32.store (i32.const 1032) (i32.const 2048))
        (i32.store (i32.const 1036) (i32.const 8))))
    (i32.const 1024)))
