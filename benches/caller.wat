(module
  {imports}
  (memory (export "memory") 2)
  (global $next (mut i32) (i32.const 8192))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (local $at i32)
    ;; What the host hands over is looked at by nobody, so its place is used again.
    (if (i32.gt_u (i32.add (global.get $next) (local.get 3)) (i32.const 120000))
      (then (global.set $next (i32.const 8192))))
    (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
    (global.set $next (i32.add (local.get $at) (local.get 3)))
    (local.get $at))
  {data}
  (func (export "hookbox:hook/handler@1.1.0#handle")
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    {body}
    (i32.const 1024)))
