"""Train a symbol with Module and a store from the command line, as MXNet's examples do."""

import logging
import math

import mxnet as mx


def add_fit_args(parser):
    """Add the training options."""
    train = parser.add_argument_group("Training")
    train.add_argument("--network", default="mlp")
    train.add_argument("--gpus", type=str)
    train.add_argument("--kv-store", type=str, default="device")
    train.add_argument("--num-epochs", type=int, default=2)
    train.add_argument("--lr", type=float, default=0.1)
    train.add_argument("--lr-factor", type=float, default=0.1)
    train.add_argument("--lr-step-epochs", type=str, default="1")
    train.add_argument("--optimizer", type=str, default="sgd")
    train.add_argument("--mom", type=float, default=0.9)
    train.add_argument("--wd", type=float, default=0.0001)
    train.add_argument("--batch-size", type=int, default=16)
    train.add_argument("--disp-batches", type=int, default=4)
    train.add_argument("--model-prefix", type=str)
    train.add_argument("--load-epoch", type=int)
    train.add_argument("--gc-type", type=str, default="none")
    train.add_argument("--gc-threshold", type=float, default=0.5)
    return train


def lr_schedule(args, kv):
    """The initial learning rate and its schedule, in updates of one worker."""
    epoch_size = args.num_examples / args.batch_size
    if "dist" in args.kv_store:
        epoch_size /= kv.num_workers
    epoch_size = math.ceil(epoch_size)
    begin = args.load_epoch or 0
    steps = [int(text) for text in args.lr_step_epochs.split(",")]
    rate = args.lr * args.lr_factor ** sum(begin >= step for step in steps)
    later = [epoch_size * (step - begin) for step in steps if step > begin]
    if not later:
        return rate, None
    return rate, mx.lr_scheduler.MultiFactorScheduler(
        step=later, factor=args.lr_factor, base_lr=args.lr
    )


def load_model(args, rank):
    """Load the checkpoint of an earlier run."""
    if args.load_epoch is None:
        return None, None, None
    prefix = args.model_prefix + (f"-{rank}" if rank > 0 else "")
    return mx.model.load_checkpoint(prefix, args.load_epoch)


def checkpoint(args, rank):
    """A callback that saves the model after each epoch; only rank 0 uses the plain name."""
    if args.model_prefix is None:
        return None
    return mx.callback.do_checkpoint(args.model_prefix + (f"-{rank}" if rank > 0 else ""))


def fit(args, network, data_loader):
    """Train.

    Parameters
    ----------
    args : argparse.Namespace
    network : Symbol
    data_loader : callable
        ``data_loader(args, kv)`` returns the training and the validation iterator.
    """
    kv = mx.kvstore.create(args.kv_store)
    if args.gc_type != "none":
        kv.set_gradient_compression({"type": args.gc_type, "threshold": args.gc_threshold})
    head = f"%(asctime)-15s Node[{kv.rank}] %(message)s"
    logging.basicConfig(level=logging.DEBUG, format=head)
    logging.info("start with arguments %s", args)
    train, check = data_loader(args, kv)
    _, arg_params, aux_params = load_model(args, kv.rank)
    rate, scheduler = lr_schedule(args, kv)
    devices = mx.cpu()
    if args.gpus:
        devices = [mx.gpu(int(i)) for i in args.gpus.split(",")]
    model = mx.mod.Module(context=devices, symbol=network)
    settings = {"learning_rate": rate, "wd": args.wd, "lr_scheduler": scheduler}
    settings["multi_precision"] = True
    if args.optimizer in ("sgd", "dcasgd", "nag"):
        settings["momentum"] = args.mom
    model.fit(
        train,
        begin_epoch=args.load_epoch or 0,
        num_epoch=args.num_epochs,
        eval_data=check,
        eval_metric=["accuracy", "ce"],
        kvstore=kv,
        optimizer=args.optimizer,
        optimizer_params=settings,
        initializer=mx.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2),
        arg_params=arg_params,
        aux_params=aux_params,
        batch_end_callback=[mx.callback.Speedometer(args.batch_size, args.disp_batches)],
        epoch_end_callback=checkpoint(args, kv.rank),
        allow_missing=True,
    )
    return model
